//! Why the store could not be used.

use std::path::PathBuf;

use thiserror::Error;

/// Why the store could not be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process has the database open.
    #[error("the database {path} is in use by another process")]
    Locked {
        /// The database.
        path: PathBuf,
    },
    /// The database was written by a newer version.
    #[error("the database has schema {found}, this version knows {known}")]
    Newer {
        /// Its schema.
        found: String,
        /// The newest that this program reads.
        known: u16,
    },
    /// A value is not the one that was written.
    #[error("the database is damaged: {what}")]
    Damaged {
        /// The values that differ.
        what: String,
    },
    /// The database did not answer in time.
    #[error("the database did not answer within {deadline_ms} ms")]
    Unresponsive {
        /// The deadline, in milliseconds.
        deadline_ms: u128,
    },
    /// The database refused the operation.
    #[error("the database failed: {reason}")]
    Failed {
        /// Its own words.
        reason: String,
    },
}
