//! Problems found and repaired on opening a cache. Values, not prints: the command line shows them.

use std::path::PathBuf;

use thiserror::Error;

/// A problem found on opening the cache, and the repair.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Warning {
    /// The database was unreadable, damaged or stuck; it was moved and rebuilt from the journal.
    #[error(
        "the database was set aside as {moved_to} ({reason}) and rebuilt from the journal: {entries} entries"
    )]
    StoreSetAside {
        /// The path of the old one.
        moved_to: PathBuf,
        /// Its problem.
        reason: String,
        /// Entries in the rebuilt one.
        entries: u64,
    },
    /// The database was written by a newer version; it was moved and a new one built from the journal.
    #[error(
        "the database has schema {found}, newer than this version's {known}; it was set aside as {moved_to} and rebuilt from the journal: {entries} entries"
    )]
    StoreNewer {
        /// The path of the newer one.
        moved_to: PathBuf,
        /// Its schema.
        found: String,
        /// The newest that this program reads.
        known: u16,
        /// Entries in the rebuilt one.
        entries: u64,
    },
    /// The database had not seen the last records of the journal, as after a kill; it has now.
    #[error("the database was {records} records behind the journal and caught up")]
    StoreBehind {
        /// Records applied.
        records: u64,
    },
    /// The database belonged to another journal and was rebuilt from this one.
    #[error("the database belonged to another journal and was rebuilt: {entries} entries")]
    StoreReplaced {
        /// Entries in the rebuilt one.
        entries: u64,
    },
    /// The database cannot be used; everything works from memory, and the journal is still written.
    #[error(
        "the database cannot be used ({reason}); working from memory, nothing is lost\nhelp: `tune cache verify`"
    )]
    StoreUnavailable {
        /// Why.
        reason: String,
    },
    /// Records of the journal were damaged. Those that the database still had were kept.
    #[error(
        "the journal had {damaged} damaged stretches: {restored} records restored from the database, {lost} lost; the old file is kept as {kept_at}"
    )]
    JournalDamaged {
        /// Damaged stretches found.
        damaged: u64,
        /// Damaged or missing records that the database still had.
        restored: u64,
        /// Records that are gone.
        lost: u64,
        /// The path of the damaged file.
        kept_at: PathBuf,
    },
    /// The journal ends before the record that the database knows of, or is gone; it was written anew.
    #[error(
        "the journal ends at record {found}, the database knows {expected}; the journal was written anew from the database"
    )]
    JournalCutShort {
        /// Last record found.
        found: u64,
        /// Last record that the database has applied.
        expected: u64,
    },
    /// A last record was half written, as after a kill, and was never acknowledged: it was cut off.
    #[error(
        "the last record of the journal was half written ({bytes} bytes) and was dropped; it had not been acknowledged"
    )]
    TornRecord {
        /// Bytes cut off.
        bytes: u64,
    },
    /// Sound records hold content that this version cannot read; they were passed over.
    #[error(
        "{records} records of the journal hold nothing that this version can read and were passed over"
    )]
    Undecodable {
        /// Their number.
        records: u64,
    },
    /// The probe could not be run; the database was opened behind a deadline alone.
    #[error("the probe of the database could not be started ({reason}); it was opened without")]
    ProbeNotRun {
        /// Why.
        reason: String,
    },
}
