//! Reports about a cache: its consistency and its size.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::store::StoreEntry;

/// The result of verifying the journal and the store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyReport {
    /// Number of undamaged records of the journal.
    pub journal_records: u64,
    /// Number of damaged sections of the journal.
    pub journal_damaged: u64,
    /// Number of records that are missing in the journal.
    pub journal_missing: u64,
    /// Number of entries of the store.
    pub store_entries: u64,
    /// Number of records that were lost when this opening of the cache repaired the journal.
    #[serde(default)]
    pub lost_in_repair: u64,
    /// What is wrong with the store; `None` if it is undamaged and agrees with the journal.
    pub store_fault: Option<String>,
}

impl VerifyReport {
    /// Whether no problem was found.
    pub fn is_sound(&self) -> bool {
        self.journal_damaged == 0
            && self.journal_missing == 0
            && self.lost_in_repair == 0
            && self.store_fault.is_none()
    }
}

/// Numbers and sizes of a cache's content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// Number of tuning keys.
    pub keys: u64,
    /// Number of configs that were tried.
    pub trials: u64,
    /// Number of these configs that were verified and timed.
    pub valid_trials: u64,
    /// Number of configs with strikes (see [`QUARANTINE_STRIKES`](super::QUARANTINE_STRIKES)).
    pub struck: u64,
    /// Number of processes of confirmations.
    pub confirm_processes: u64,
    /// Number of searches that were decided.
    pub winners: u64,
    /// Number of searches that were completed.
    pub searches_done: u64,
    /// Number of runs of `tune`.
    pub runs: u64,
    /// Size of the journal, in bytes.
    pub journal_bytes: u64,
    /// Size of the database, in bytes.
    pub store_bytes: u64,
    /// Size of the artifacts, in bytes.
    pub artifact_bytes: u64,
    /// Size of the results that were pulled from other machines, in bytes.
    #[serde(default)]
    pub import_bytes: u64,
    /// Paths of databases and journals that were set aside.
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
