//! Stores of objects. A folder is one; other kinds implement [`ObjectStore`].
//!
//! A store is not trusted: whatever it returns is verified, and what it acknowledged may be lost. Objects are named
//! by their content and never changed, so that no operation needs a condition or a lock.

mod error;
mod folder;
mod name;

use std::fmt::Debug;
use std::path::Path;

pub use error::StoreError;
pub use folder::Folder;

/// The names of a store's objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The names, sorted.
    pub names: Vec<String>,
    /// What is in the store and no object: links, and files with other names than objects have.
    pub ignored: Vec<String>,
}

/// A store of objects. All operations block.
pub trait ObjectStore: Send + Sync + Debug {
    /// Writes an object. When this returns, it is as durable as the store makes it. An object that is there with the
    /// same bytes is left as it is.
    ///
    /// # Errors
    /// A name that no object has, other bytes under the same name, or a store that does not take it.
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError>;

    /// Reads an object of at most `max_bytes`; nothing if there is none.
    ///
    /// # Errors
    /// A name that no object has, a larger object, or a store that does not answer.
    fn get(&self, name: &str, max_bytes: usize) -> Result<Option<Vec<u8>>, StoreError>;

    /// The names of all objects that begin with `prefix`, which ends with `/`.
    ///
    /// # Errors
    /// A store that does not answer.
    fn list(&self, prefix: &str) -> Result<Listing, StoreError>;
}

/// Opens the store at a location: the path of a folder, which is made if there is none.
///
/// # Errors
/// An unusable folder, or the location of another kind of store.
pub fn open(location: &str) -> Result<Box<dyn ObjectStore>, StoreError> {
    if location.contains("://") {
        let location = location.into();
        return Err(StoreError::Scheme { location });
    }
    Ok(Box::new(Folder::open(Path::new(location))?))
}

#[cfg(test)]
mod tests;
