//! The store, which all reads go to. Entries by key, with a running count and root hash, so that the
//! silent loss of any of them is noticed.
//!
//! Behind [`Store`] sits sled ([`SledStore`]) or plain memory ([`MemoryStore`]); the journal stays the
//! truth, and the store knows up to which record of it it is complete.

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
