//! Why the cache could not be used.

use std::io;
use std::path::PathBuf;

use kiln_spec::Hash;
use thiserror::Error;

use crate::journal::JournalError;
use crate::store::StoreError;

/// Why the cache could not be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CacheError {
    /// Another process holds the cache.
    #[error("the cache {path} is in use by another `tune`{}\nhelp: wait for it, or set KILN_CACHE to another folder", holder(*.process))]
    InUse {
        /// The cache's folder, or the database within.
        path: PathBuf,
        /// The process that holds it, if known.
        process: Option<u32>,
    },
    /// The cache's folder could not be made or used.
    #[error(
        "cannot use the cache folder {path}: {source}\nhelp: set KILN_CACHE to a folder you can write to"
    )]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Anybody may write to the cache's folder, which holds code that is run.
    #[error(
        "the cache folder {path} has mode {mode:o}: anybody may change it\nhelp: `chmod o-w {path}`"
    )]
    WorldWritable {
        /// The folder.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// An environment variable names no usable folder.
    #[error(
        "{variable} is {value:?}, which is {problem}\nhelp: set KILN_CACHE to an absolute path"
    )]
    Location {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// The problem.
        problem: &'static str,
    },
    /// No environment variable gives the folder of the cache.
    #[error(
        "none of KILN_CACHE, XDG_CACHE_HOME and HOME is set\nhelp: set KILN_CACHE to an absolute path"
    )]
    NoLocation,
    /// The journal failed: nothing was recorded.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The store failed, and so did its rebuilding in memory.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A trial was recorded under a key that the cache has not seen in clear.
    #[error(
        "the tuning key {key} of this record was never stored in clear\nhelp: call `Cache::remember_key` before the first trial"
    )]
    UnknownKey {
        /// The key.
        key: Hash,
    },
    /// The cache was opened for reading alone.
    #[error("the cache {path} was opened for reading alone")]
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
