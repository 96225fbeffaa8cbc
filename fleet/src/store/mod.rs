//! Stores of objects: a folder, or a bucket of an S3-compatible server.
//!
//! A store is not trusted: whatever it returns is verified, and what it acknowledged may be lost. Objects are named
//! by their content and never changed, so that no operation needs a condition or a lock.

mod error;
mod folder;
mod name;
#[cfg(feature = "s3")]
mod s3;

use std::fmt::Debug;
use std::path::Path;

pub use error::StoreError;
pub use folder::Folder;
#[cfg(feature = "s3")]
pub use s3::S3;

/// What locations of buckets begin with.
const S3_SCHEME: &str = "s3://";

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

/// Opens the store at a location: the path of a folder, which is made if there is none, or `s3://bucket/prefix`.
///
/// # Errors
/// An unusable folder, settings of a bucket that cannot be used, or the location of another kind of store.
pub fn open(location: &str) -> Result<Box<dyn ObjectStore>, StoreError> {
    if location.starts_with(S3_SCHEME) {
        return open_bucket(location);
    }
    if location.contains("://") {
        let location = location.into();
        return Err(StoreError::Scheme { location });
    }
    Ok(Box::new(Folder::open(Path::new(location))?))
}

#[cfg(feature = "s3")]
fn open_bucket(location: &str) -> Result<Box<dyn ObjectStore>, StoreError> {
    Ok(Box::new(S3::open(location)?))
}

#[cfg(not(feature = "s3"))]
fn open_bucket(location: &str) -> Result<Box<dyn ObjectStore>, StoreError> {
    let location = location.into();
    Err(StoreError::WithoutS3 { location })
}

/// Whether a store has an object with these bytes.
///
/// # Errors
/// Other bytes under the name, or a store that does not answer.
fn holds(store: &dyn ObjectStore, name: &str, bytes: &[u8]) -> Result<bool, StoreError> {
    let found = match store.get(name, bytes.len()) {
        Ok(None) => return Ok(false),
        Ok(Some(found)) if found == bytes => return Ok(true),
        Ok(Some(found)) => found.len() as u64,
        Err(StoreError::TooLarge { bytes, .. }) => bytes,
        Err(error) => return Err(error),
    };
    Err(StoreError::Exists {
        name: name.into(),
        found,
        expected: bytes.len() as u64,
    })
}

#[cfg(test)]
mod tests;
