//! Stores of objects. A store is a folder, or a bucket of an S3-compatible server.
//!
//! A store is not trusted. Everything that it returns is verified, and objects that it acknowledged may be lost.
//! Objects are named by their content and never change, so no operation needs a condition or a lock.

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

/// Prefix of the locations of buckets.
const S3_SCHEME: &str = "s3://";

/// The names that a store has below a prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The names of objects, sorted.
    pub names: Vec<String>,
    /// Other entries of the store, sorted: symbolic links, and files whose names are not valid names of objects.
    /// Invalid names are escaped.
    pub ignored: Vec<String>,
}

/// A store of objects. All operations block.
pub trait ObjectStore: Send + Sync + Debug {
    /// Writes an object. When the call returns, the object is as durable as the store can make it. If the store already
    /// has the object with the same bytes, nothing is written. If a store writes objects in place and another writer
    /// was killed, the store may have only the first bytes of the object; this call then completes the object.
    ///
    /// # Errors
    /// The name is invalid, the store has other bytes under this name, or the store does not accept the object.
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError>;

    /// Reads an object of at most `max_bytes` bytes; `None` if the store does not have it.
    ///
    /// # Errors
    /// The name is invalid, the object is larger, or the store does not answer.
    fn get(&self, name: &str, max_bytes: usize) -> Result<Option<Vec<u8>>, StoreError>;

    /// Lists all objects whose names begin with `prefix`. The prefix is the name of a folder and ends with `/`.
    ///
    /// # Errors
    /// The prefix is invalid, or the store does not answer.
    fn list(&self, prefix: &str) -> Result<Listing, StoreError>;
}

/// Opens the store at a location: the path of a folder, or `s3://bucket/prefix`.
///
/// # Errors
/// The folder does not exist, the settings of the bucket are invalid, the program was built without the feature
/// `s3`, or the location has another scheme.
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

/// Opens the store at a location like [`open`], and creates its folder if it does not exist. Returns whether the folder
/// was created.
///
/// # Errors
/// The folder cannot be created, for example because its parent does not exist, and the other errors of [`open`].
pub fn create(location: &str) -> Result<(Box<dyn ObjectStore>, bool), StoreError> {
    if location.contains("://") {
        return Ok((open(location)?, false));
    }
    let (folder, created) = Folder::create(Path::new(location))?;
    Ok((Box::new(folder), created))
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

/// Whether a store has the object `name` with exactly these bytes.
///
/// # Errors
/// The store has other bytes under this name, or the store does not answer.
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
