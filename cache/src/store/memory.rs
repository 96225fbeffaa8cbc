//! A store in memory. It is used for read-only views, for tests, and if the database cannot be used.

use std::collections::BTreeMap;

use super::change::{Change, Position};
use super::entry::StoreEntry;
use super::error::StoreError;
use super::interface::Store;
use super::totals::Totals;
use super::value;

/// A store in memory. It holds encoded values, so reads decode and check them as with a database.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    values: BTreeMap<String, Vec<u8>>,
    totals: Totals,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> MemoryStore {
        MemoryStore::default()
    }
}

impl Store for MemoryStore {
    fn get(&self, key: &str) -> Result<Option<StoreEntry>, StoreError> {
        let bytes = self.values.get(key);
        bytes.map(|b| value::decode_entry(key, b)).transpose()
    }

    fn scan(&self, prefix: &str, visit: &mut dyn FnMut(StoreEntry)) -> Result<(), StoreError> {
        let from = self.values.range(prefix.to_string()..);
        for (key, bytes) in from.take_while(|(key, _)| key.starts_with(prefix)) {
            visit(value::decode_entry(key, bytes)?);
        }
        Ok(())
    }

    fn apply(&mut self, changes: &[Change], position: Position) -> Result<(), StoreError> {
        for (key, new) in value::by_key(changes)? {
            let old = match &new {
                Some(bytes) => self.values.insert(key.clone(), bytes.clone()),
                None => self.values.remove(&key),
            };
            self.totals.exchange(&key, old.as_deref(), new.as_deref());
        }
        self.totals.position = Some(position);
        Ok(())
    }

    fn totals(&self) -> Totals {
        self.totals
    }

    fn check(&self) -> Result<(), StoreError> {
        let mut counted = Totals::default();
        for (key, bytes) in &self.values {
            value::decode_entry(key, bytes)?;
            counted.exchange(key, None, Some(bytes));
        }
        self.totals.agree(&counted)
    }

    fn clear(&mut self) -> Result<(), StoreError> {
        *self = MemoryStore::new();
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}
