//! Why an operation on the cache failed.

use std::io;
use std::path::PathBuf;

use kiln_spec::Hash;
use thiserror::Error;

use crate::journal::JournalError;
use crate::store::StoreError;

/// Why an operation on the cache failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CacheError {
    /// Another process has locked the cache or its database.
    #[error("the cache {path} is in use by another `tune`{}\nhelp: wait for it, or set KILN_CACHE to another folder", holder(*.process))]
    InUse {
        /// The cache's folder, or the database in it.
        path: PathBuf,
        /// The process that holds the lock; `None` if it is unknown.
        process: Option<u32>,
    },
    /// The cache's folder could not be created or used.
    #[error(
        "cannot use the cache folder {path}: {source}\nhelp: set KILN_CACHE to a folder you can write to"
    )]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Anybody may write to the cache's folder. This is not allowed, because Kiln runs code from this folder.
    #[error(
        "the cache folder {path} has mode {mode:o}: anybody may change it\nhelp: run `chmod o-w {path}`"
    )]
    WorldWritable {
        /// The folder.
        path: PathBuf,
        /// The folder's permission bits.
        mode: u32,
    },
    /// An environment variable has a value that is not a usable folder.
    #[error(
        "{variable} is {value:?}, which is {problem}\nhelp: set KILN_CACHE to an absolute path"
    )]
    Location {
        /// Name of the variable.
        variable: &'static str,
        /// The variable's value.
        value: String,
        /// What is wrong with the value.
        problem: &'static str,
    },
    /// None of the environment variables that specify the cache's folder is set.
    #[error(
        "none of KILN_CACHE, XDG_CACHE_HOME and HOME is set\nhelp: set KILN_CACHE to an absolute path"
    )]
    NoLocation,
    /// The journal failed, so nothing was recorded.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The store failed, and rebuilding it in memory failed too.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A record has a tuning key whose fields were not stored before.
    #[error(
        "the tuning key {key} of this record was never stored in clear\nhelp: call `Cache::remember_key` before the first trial"
    )]
    UnknownKey {
        /// Hash of the key.
        key: Hash,
    },
    /// The cache was opened only for reading, and the operation would have changed it.
    #[error("the cache {path} was opened read-only")]
    ReadOnly {
        /// The cache's folder.
        path: PathBuf,
    },
    /// An export could not be written.
    #[error("cannot write the export: {0}")]
    Export(#[source] io::Error),
}

fn holder(process: Option<u32>) -> String {
    process.map_or(String::new(), |id| format!(" (process {id})"))
}
