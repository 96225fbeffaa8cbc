//! Changes of a store, and the record of the journal that it is up to date with.

use kiln_spec::Hash;
use serde::{Deserialize, Serialize};

use super::entry::StoreEntry;

/// One change to the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Puts an entry, replacing one under the same key.
    Put(Box<StoreEntry>),
    /// Removes the entry under a key.
    Remove(String),
}

impl Change {
    /// Puts an entry.
    pub fn put(entry: StoreEntry) -> Change {
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
