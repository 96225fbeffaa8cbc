//! Why an operation on the store failed.

use std::path::PathBuf;

use thiserror::Error;

/// Why an operation on the store failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process has the database open.
    #[error("the database {path} is in use by another process")]
    Locked {
        /// Path of the database.
        path: PathBuf,
    },
    /// A newer version wrote the database.
    #[error("the database has schema {found}, but this version reads schema {known}")]
    Newer {
        /// The database's schema.
        found: String,
        /// The newest schema that this program reads.
        known: u16,
    },
    /// A value differs from the one that was written.
    #[error("the database is damaged: {what}")]
    Damaged {
        /// What is damaged.
        what: String,
    },
    /// The database did not answer in time.
    #[error("the database did not answer within {deadline_ms} ms")]
    Unresponsive {
        /// The deadline, in milliseconds.
        deadline_ms: u128,
    },
    /// The database reported an error.
    #[error("the database failed: {reason}")]
    Failed {
        /// The database's error message.
        reason: String,
    },
}
