//! Problems of a cache that were found, and mostly repaired, when it was opened or used. The command line prints them.

use std::path::PathBuf;

use thiserror::Error;

/// A problem that was found when the cache was opened or used, and its repair.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Warning {
    /// The database was unreadable, damaged or did not respond. It was renamed, and a new one was built from the
    /// journal.
    #[error(
        "the database was set aside as {moved_to} ({reason}) and rebuilt from the journal: {entries} entries"
    )]
    StoreSetAside {
        /// Path of the old database.
        moved_to: PathBuf,
        /// What was wrong with the old database.
        reason: String,
        /// Number of entries in the new database.
        entries: u64,
    },
    /// A newer version wrote the database. It was renamed, and a new one was built from the journal.
    #[error(
        "the database has schema {found}, newer than this version's {known}; it was set aside as {moved_to} and rebuilt from the journal: {entries} entries"
    )]
    StoreNewer {
        /// Path of the newer version's database.
        moved_to: PathBuf,
        /// Schema of the newer version's database.
        found: String,
        /// The newest schema that this program reads.
        known: u16,
        /// Number of entries in the new database.
        entries: u64,
    },
    /// The database lacked the last records of the journal, for example because the process was killed. They were
    /// applied.
    #[error("the database was {records} records behind the journal and caught up")]
    StoreBehind {
        /// Number of records that were applied.
        records: u64,
    },
    /// The database belonged to another journal, or to another history of this journal. It was rebuilt from this
    /// journal.
    #[error("the database belonged to another journal and was rebuilt: {entries} entries")]
    StoreReplaced {
        /// Number of entries in the rebuilt database.
        entries: u64,
    },
    /// The database cannot be used. The store is in memory, and the journal is still written.
    #[error(
        "the database cannot be used ({reason}); working from memory, nothing is lost\n\
         help: run `tune cache verify`"
    )]
    StoreUnavailable {
        /// Why the database cannot be used.
        reason: String,
    },
    /// Records of the journal were damaged. The journal was rewritten with the records that the database still had.
    #[error(
        "the journal had {damaged} damaged stretches: {restored} records restored from the database, {lost} lost; the old file is kept as {kept_at}"
    )]
    JournalDamaged {
        /// Number of damaged sections of the journal.
        damaged: u64,
        /// Number of damaged or missing records that the database still had.
        restored: u64,
        /// Number of records that are lost.
        lost: u64,
        /// Path of the damaged file.
        kept_at: PathBuf,
    },
    /// The journal ends before the last record that the database has applied, or is missing. It was rewritten from the
    /// database.
    #[error(
        "the journal ends at record {found}, but the database contains records up to {expected}; the journal was \
         written anew from the database"
    )]
    JournalCutShort {
        /// Sequence number of the journal's last record.
        found: u64,
        /// Sequence number of the last record that the database has applied.
        expected: u64,
    },
    /// The last record was written only in part, for example because of a kill. It was never acknowledged, and it was
    /// removed.
    #[error(
        "the last record of the journal was half written ({bytes} bytes) and was dropped; it had not been acknowledged"
    )]
    TornRecord {
        /// Number of bytes that were removed.
        bytes: u64,
    },
    /// Undamaged records have content that this version cannot read. They were skipped.
    #[error("{records} records of the journal cannot be read by this version and were skipped")]
    Undecodable {
        /// Number of these records.
        records: u64,
    },
    /// The probe could not be run. The database was opened in this process, with a deadline.
    #[error(
        "the probe of the database could not be started ({reason}); the database was opened without it"
    )]
    ProbeNotRun {
        /// Why the probe could not be run.
        reason: String,
    },
}

impl Warning {
    /// Number of records that are lost.
    pub(crate) fn lost(&self) -> u64 {
        match self {
            Warning::JournalDamaged { lost, .. } => *lost,
            _ => 0,
        }
    }
}
