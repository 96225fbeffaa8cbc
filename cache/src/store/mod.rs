//! The store: what everything reads. Entries by key, with a running count and root hash, so that the
//! silent loss of any of them is noticed.
//!
//! Behind [`Store`] sits sled ([`SledStore`]) or plain memory ([`MemoryStore`]); the journal stays the
//! truth, and the store knows up to which record of it it is complete.

mod memory;
pub(crate) mod sled_store;
pub(crate) mod state;
pub(crate) mod value;

use std::path::PathBuf;

use kiln_spec::Hash;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::key::TuningKey;
use crate::record::{
    ConfirmProcess, RecordError, RunEnded, RunStarted, SearchDone, Trial, TrialId, Winner,
};
pub use memory::MemoryStore;
pub use sled_store::SledStore;

/// Version of the stored values. A database with a higher one is set aside, not read.
pub const STORE_SCHEMA: u16 = 1;

/// Launches of one trial that were started and not survived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strikes {
    /// The trial.
    pub trial: TrialId,
    /// How many.
    pub strikes: u32,
}

/// A run of `tune`, with its end where it had one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// How it began.
    pub started: RunStarted,
    /// How it ended; none where it was cut off.
    pub ended: Option<RunEnded>,
}

impl Run {
    /// How long it took, in nanoseconds: to the second in runs of earlier programs, none where it was cut off.
    pub fn elapsed_ns(&self) -> Option<u64> {
        let ended = self.ended.as_ref()?;
        let seconds = ended.unix_s.saturating_sub(self.started.unix_s);
        Some(
            ended
                .elapsed_ns
                .unwrap_or(seconds.saturating_mul(1_000_000_000)),
        )
    }

    fn check(&self) -> Result<(), RecordError> {
        self.started.check()?;
        self.ended.as_ref().map_or(Ok(()), RunEnded::check)
    }
}

/// One thing in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// A run of `tune`.
    Run(Run),
    /// A tuning key in clear.
    Key(TuningKey),
    /// The last trial of a config under a key.
    Trial(Trial),
    /// Strikes against a config under a key.
    Strikes(Strikes),
    /// A process of a confirmation.
    Confirm(ConfirmProcess),
    /// The winner under a key.
    Winner(Winner),
    /// The search under a key is complete.
    Done(SearchDone),
}

impl Entry {
    /// The key it is stored under.
    pub fn key(&self) -> String {
        match self {
            Entry::Run(run) => keys::run(run.started.run),
            Entry::Key(key) => keys::key(key.hash()),
            Entry::Trial(trial) => keys::trial(&trial.id()),
            Entry::Strikes(strikes) => keys::strikes(&strikes.trial),
            Entry::Confirm(process) => keys::confirm(process),
            Entry::Winner(winner) => keys::winner(winner.key),
            Entry::Done(done) => keys::done(done.key),
        }
    }

    /// Refuses what no honest writer stores; see [`crate::record::Record::check`].
    pub(crate) fn check(&self) -> Result<(), RecordError> {
        match self {
            Entry::Trial(trial) => trial.check(),
            Entry::Winner(winner) => winner.check(),
            Entry::Run(run) => run.check(),
            Entry::Key(_) | Entry::Strikes(_) => Ok(()),
            Entry::Confirm(_) | Entry::Done(_) => Ok(()),
        }
    }
}

/// Texts of store keys: a kind, then what tells its entries apart.
pub(crate) mod keys {
    use super::{ConfirmProcess, Hash, TrialId};

    pub fn run(run: u64) -> String {
        format!("run/{run:016x}")
    }

    pub fn key(key: Hash) -> String {
        format!("key/{key}")
    }

    pub fn trials(key: Hash) -> String {
        format!("trial/{key}/")
    }

    pub fn trial(id: &TrialId) -> String {
        format!("trial/{}/{}", id.key, id.config_hash())
    }

    pub fn all_strikes(key: Hash) -> String {
        format!("strike/{key}/")
    }

    pub fn strikes(id: &TrialId) -> String {
        format!("strike/{}/{}", id.key, id.config_hash())
    }

    pub fn all_confirms(key: Hash) -> String {
        format!("confirm/{key}/")
    }

    pub fn confirms(id: &TrialId) -> String {
        format!("confirm/{}/{}/", id.key, id.config_hash())
    }

    pub fn confirm(process: &ConfirmProcess) -> String {
        let id = TrialId {
            key: process.key,
            config: process.config.clone(),
        };
        let (series, process) = (process.series, process.process);
        format!("{}{series:016x}/{process:08x}", confirms(&id))
    }

    pub fn winner(key: Hash) -> String {
        format!("winner/{key}")
    }

    pub fn done(key: Hash) -> String {
        format!("done/{key}")
    }
}

/// One change to the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Puts an entry, replacing one under the same key.
    Put(Box<Entry>),
    /// Removes what is under a key.
    Remove(String),
}

impl Change {
    /// Puts an entry.
    pub fn put(entry: Entry) -> Change {
        Change::Put(Box::new(entry))
    }
}

/// Up to which record of which journal a store is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The journal's identity.
    pub journal: u64,
    /// Sequence number of the last record applied.
    pub sequence: u64,
    /// Hash of all records up to it: a journal that went another way since is not the same.
    pub chain: Hash,
}

/// How much a store holds, by its own book-keeping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Entries.
    pub entries: u64,
    /// Sum of the hashes of all entries, modulo 2^128: the same for the same entries in any order.
    #[serde(with = "root_text")]
    pub root: u128,
    /// Where in the journal the store is; none in a new one.
    pub position: Option<Position>,
}

/// JSON numbers end at 64 bits in some readers, so the root is text.
mod root_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(root: &u128, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{root:032x}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u128, D::Error> {
        u128::from_str_radix(&String::deserialize(from)?, 16).map_err(D::Error::custom)
    }
}

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
    /// What is read is not what was written.
    #[error("the database is damaged: {what}")]
    Damaged {
        /// What does not agree.
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

/// A place for entries. Reads never return a value other than the one written under that key: they
/// return it, nothing, or an error.
pub trait Store: Send {
    /// The entry under a key.
    ///
    /// # Errors
    /// When the database fails or the value is damaged.
    fn get(&self, key: &str) -> Result<Option<Entry>, StoreError>;

    /// Visits the entries whose keys start with `prefix`, in the order of their keys.
    ///
    /// # Errors
    /// As [`Self::get`]; entries before the failing one were visited.
    fn scan(&self, prefix: &str, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError>;

    /// Makes all changes or none, and moves on to `position`.
    ///
    /// # Errors
    /// When the database fails.
    fn apply(&mut self, changes: &[Change], position: Position) -> Result<(), StoreError>;

    /// The store's own book-keeping.
    fn totals(&self) -> Totals;

    /// Reads every value back, and compares with the book-keeping.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] on any difference.
    fn check(&self) -> Result<(), StoreError>;

    /// Removes everything.
    ///
    /// # Errors
    /// When the database fails.
    fn clear(&mut self) -> Result<(), StoreError>;

    /// Hands everything to the operating system.
    ///
    /// # Errors
    /// When the database fails.
    fn flush(&mut self) -> Result<(), StoreError>;
}

#[cfg(test)]
mod tests;
