//! Why an operation on the journal failed.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::frame::{MAX_BYTES, MAX_PAYLOAD};
use crate::record::RecordError;

/// Why an operation on the journal failed.
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
        /// The journal's file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A record could not be written. If the state of the file is then unknown, later writes return
    /// [`JournalError::Broken`].
    #[error(
        "cannot write to the journal {path}: {source}\nhelp: free disk space, then run `tune` again: it resumes where it stopped"
    )]
    Append {
        /// The journal's file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// An earlier write failed, and the content at the end of the file is unknown. The journal cannot be written any
    /// more.
    #[error(
        "the journal {path} accepts no more records, because an earlier write failed\n\
         help: run `tune` again: it reads every undamaged record"
    )]
    Broken {
        /// The journal's file.
        path: PathBuf,
    },
    /// Another program wrote to, replaced or removed the file.
    #[error(
        "the journal {path} has {found} bytes, but this run left it with {expected}: another program changed it\n\
         help: run one `tune` at a time on a file system that honours locks"
    )]
    Changed {
        /// The journal's file.
        path: PathBuf,
        /// Length of the file after this run's last write, in bytes.
        expected: u64,
        /// Current length of the file, in bytes; 0 if the file was removed.
        found: u64,
    },
    /// A newer version wrote the journal. The file was not changed.
    #[error(
        "the journal {path} has schema {found}, but this version reads schemas up to {known}; nothing was changed\n\
         help: use the newer `tune`, or set KILN_CACHE to another folder"
    )]
    Newer {
        /// The journal's file.
        path: PathBuf,
        /// The journal's schema version.
        found: u32,
        /// The newest schema version that this program reads.
        known: u32,
    },
    /// The journal is larger than the largest journal that is read.
    #[error(
        "the journal {path} has {bytes} bytes, but the maximum is {MAX_BYTES}\nhelp: run `tune cache clear`"
    )]
    TooLarge {
        /// The journal's file.
        path: PathBuf,
        /// Length of the file, in bytes.
        bytes: u64,
    },
    /// A record is too large for the journal.
    #[error("a record has {bytes} bytes of JSON, but the maximum is {MAX_PAYLOAD}")]
    RecordTooLarge {
        /// Length of the record's JSON, in bytes.
        bytes: usize,
    },
    /// A record is invalid.
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
