//! Changes of a store, and the position of a store in the journal.

use kiln_spec::Hash;
use serde::{Deserialize, Serialize};

use super::entry::StoreEntry;

/// One change to the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Adds an entry, or replaces the entry with the same key.
    Put(Box<StoreEntry>),
    /// Removes the entry with this key.
    Remove(String),
}

impl Change {
    /// A change that adds or replaces an entry.
    pub fn put(entry: StoreEntry) -> Change {
        Change::Put(Box::new(entry))
    }
}

/// A position in a journal: the sequence number of a record, and the hash of all records up to and including that
/// record. A store has applied the records up to its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Identity of the journal.
    pub journal: u64,
    /// Sequence number of the last record applied.
    pub sequence: u64,
    /// Hash of all records up to and including that record. Journals with different histories have different hashes.
    pub chain: Hash,
}
