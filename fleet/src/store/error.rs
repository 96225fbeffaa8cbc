//! Why a store could not be used.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a store could not be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file or folder of the store failed.
    #[error(
        "cannot {what} {path}: {source}\nhelp: check that the store's folder is mounted and writable, then run the command again"
    )]
    Io {
        /// The attempted operation.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// No object has such a name.
    #[error(
        "`{name}` names no object of a store (words of a-z, 0-9, `.`, `_`, `-` between slashes)\nhelp: this is a bug of the caller: names come from `kiln_fleet::object`"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// There is another object of the same name.
    #[error(
        "{name} is in the store with other bytes ({found} bytes, not {expected})\nhelp: somebody replaced it: move it away, then publish again"
    )]
    Exists {
        /// The name.
        name: String,
        /// Length of the object in the store.
        found: u64,
        /// Length of the object to be written.
        expected: u64,
    },
    /// An object is larger than any of its kind.
    #[error(
        "{name} has {bytes} bytes, more than the {most} that are read\nhelp: Kiln wrote no such object: remove it from the store"
    )]
    TooLarge {
        /// The name.
        name: String,
        /// Its length.
        bytes: u64,
        /// The most that is read.
        most: u64,
    },
    /// No store has such a location.
    #[error(
        "no store at `{location}`: only folders are stores\nhelp: give the path of a folder that all machines see; `rclone mount` and `aws s3 sync` make one of a bucket"
    )]
    Scheme {
        /// The location.
        location: String,
    },
}
