//! The report of a check of the cache.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::store::StoreEntry;

/// Whether journal and store are sound, and say the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyReport {
    /// Sound records of the journal.
    pub journal_records: u64,
    /// Damaged stretches of the journal.
    pub journal_damaged: u64,
    /// Records that the journal lacks.
    pub journal_missing: u64,
    /// Entries of the store.
    pub store_entries: u64,
    /// The damage of the store, if there is any.
    pub store_fault: Option<String>,
}

impl VerifyReport {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.journal_damaged == 0 && self.journal_missing == 0 && self.store_fault.is_none()
    }
}

/// How much a cache holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// Tuning keys.
    pub keys: u64,
    /// Configs tried.
    pub trials: u64,
    /// Of these, verified and timed.
    pub valid_trials: u64,
    /// Configs with strikes against them.
    pub struck: u64,
    /// Processes of confirmations.
    pub confirm_processes: u64,
    /// Searches decided.
    pub winners: u64,
    /// Searches completed.
    pub searches_done: u64,
    /// Runs of `tune`.
    pub runs: u64,
    /// Size of the journal, in bytes.
    pub journal_bytes: u64,
    /// Size of the database, in bytes.
    pub store_bytes: u64,
    /// Size of the artifacts, in bytes.
    pub artifact_bytes: u64,
    /// Size of what was pulled from other machines, in bytes.
    #[serde(default)]
    pub import_bytes: u64,
    /// Databases and journals set aside.
    pub set_aside: Vec<PathBuf>,
}

impl Stats {
    /// Counts an entry.
    pub(super) fn count(&mut self, entry: &StoreEntry) {
        match entry {
            StoreEntry::Run(_) => self.runs += 1,
            StoreEntry::Key(_) => self.keys += 1,
            StoreEntry::Trial(trial) => {
                self.trials += 1;
                self.valid_trials += u64::from(trial.outcome.is_valid());
            }
            StoreEntry::Strikes(_) => self.struck += 1,
            StoreEntry::Confirm(_) => self.confirm_processes += 1,
            StoreEntry::Winner(_) => self.winners += 1,
            StoreEntry::Done(_) => self.searches_done += 1,
        }
    }
}
