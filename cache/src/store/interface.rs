//! The interface of a store.

use super::change::{Change, Position};
use super::entry::StoreEntry;
use super::error::StoreError;
use super::totals::Totals;

/// Storage for entries by key. A read returns the value that was last written under the key, or an error if the value
/// is damaged. It returns nothing if the key is absent, or if its entry was lost, which `check` detects. It never
/// returns a wrong value.
pub trait Store: Send {
    /// The entry with this key; `None` if there is none.
    ///
    /// # Errors
    /// The database fails, or the value is damaged.
    fn get(&self, key: &str) -> Result<Option<StoreEntry>, StoreError>;

    /// Visits the entries whose keys start with `prefix`, in the order of their keys.
    ///
    /// # Errors
    /// The errors of [`Self::get`]. Entries before the failing one were visited.
    fn scan(&self, prefix: &str, visit: &mut dyn FnMut(StoreEntry)) -> Result<(), StoreError>;

    /// Applies all changes or none, and sets the store's position to `position`.
    ///
    /// # Errors
    /// The database fails.
    fn apply(&mut self, changes: &[Change], position: Position) -> Result<(), StoreError>;

    /// The totals that the store keeps about its entries.
    fn totals(&self) -> Totals;

    /// Reads every value, and compares the number and the root hash of the entries with the totals.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if they differ.
    fn check(&self) -> Result<(), StoreError>;

    /// Removes all entries.
    ///
    /// # Errors
    /// The database fails.
    fn clear(&mut self) -> Result<(), StoreError>;

    /// Writes all changes to disk.
    ///
    /// # Errors
    /// The database fails.
    fn flush(&mut self) -> Result<(), StoreError>;
}
