//! Why the journal could not be used.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::frame::{MAX_BYTES, MAX_PAYLOAD};
use crate::record::RecordError;

/// Why the journal could not be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The file could not be opened, read or created.
    #[error(
        "cannot {what} the journal {path}: {source}\nhelp: check its permissions, or set KILN_CACHE to another folder"
    )]
    Io {
        /// The attempted operation.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A record could not be written; the journal is as it was before.
    #[error(
        "cannot write to the journal {path}: {source}\nhelp: free disk space, then run `tune` again: it resumes where it stopped"
    )]
    Append {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// An earlier write failed in a way that leaves the end of the file unknown.
    #[error(
        "the journal {path} is closed to writing since an earlier write failed\nhelp: run `tune` again: it reads back what is sound"
    )]
    Broken {
        /// The file.
        path: PathBuf,
    },
    /// Somebody else wrote to, replaced or removed the file.
    #[error(
        "the journal {path} has {found} bytes, this run left it at {expected}: another program changed it\nhelp: run one `tune` at a time on a file system that honours locks"
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// Length this run left.
        expected: u64,
        /// Length found; 0 if the file was removed.
        found: u64,
    },
    /// The journal was written by a newer version. It was not touched.
    #[error(
        "the journal {path} has schema {found}, this version knows up to {known}; nothing was changed\nhelp: use the newer `tune`, or set KILN_CACHE to another folder"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema version.
        found: u32,
        /// The newest that this program reads.
        known: u32,
    },
    /// The journal is larger than any that is read.
    #[error(
        "the journal {path} has {bytes} bytes, more than the {MAX_BYTES} that are read\nhelp: `tune cache clear`"
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its length.
        bytes: u64,
    },
    /// A record is too large to be journalled.
    #[error("a record has {bytes} bytes of JSON, more than the {MAX_PAYLOAD} of one record")]
    RecordTooLarge {
        /// Its length.
        bytes: usize,
    },
    /// A record was refused.
    #[error("refused record: {0}")]
    Record(#[from] RecordError),
    /// A record could not be encoded.
    #[error("cannot encode a record: {0}")]
    Encode(#[from] serde_json::Error),
}

/// The error of an operation on the file.
pub(super) fn io_error<'a>(
    what: &'static str,
    path: &'a Path,
) -> impl FnOnce(io::Error) -> JournalError + 'a {
    move |source| JournalError::Io {
        what,
        path: path.into(),
        source,
    }
}
