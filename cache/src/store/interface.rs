//! The interface of a store.

use super::change::{Change, Position};
use super::entry::StoreEntry;
use super::error::StoreError;
use super::totals::Totals;

/// A place for entries. Reads never return a value other than the one written under that key: they
/// return it, nothing, or an error.
pub trait Store: Send {
    /// The entry under a key.
    ///
    /// # Errors
    /// When the database fails or the value is damaged.
    fn get(&self, key: &str) -> Result<Option<StoreEntry>, StoreError>;

    /// Visits the entries whose keys start with `prefix`, in the order of their keys.
    ///
    /// # Errors
    /// As [`Self::get`]; entries before the failing one were visited.
    fn scan(&self, prefix: &str, visit: &mut dyn FnMut(StoreEntry)) -> Result<(), StoreError>;

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
