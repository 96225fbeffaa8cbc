//! The store, which serves all reads. It keeps entries by key. It also keeps a count and a root hash of all entries, so
//! it detects the loss of an entry.
//!
//! [`Store`] is implemented by [`SledStore`], a sled database, and by [`MemoryStore`]. The journal remains the
//! authoritative record. The store keeps its position: how far it has applied the records of the journal.

mod change;
mod entry;
mod error;
mod interface;
pub(crate) mod keys;
mod memory;
pub(crate) mod sled_store;
pub(crate) mod state;
mod totals;
pub(crate) mod value;

pub use change::{Change, Position};
pub use entry::{Run, StoreEntry, Strikes};
pub use error::StoreError;
pub use interface::Store;
pub use memory::MemoryStore;
pub use sled_store::SledStore;
pub use totals::Totals;
pub use value::STORE_SCHEMA;

#[cfg(test)]
mod tests;
