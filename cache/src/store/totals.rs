//! The totals that a store keeps about its entries.

use serde::{Deserialize, Serialize};

use super::change::Position;
use super::error::StoreError;
use super::value::share;

/// The number and the root hash of a store's entries, which the store updates with every change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Number of entries.
    pub entries: u64,
    /// Sum of the hashes of all entries, modulo 2^128. The order of the entries does not matter.
    #[serde(with = "root_text")]
    pub root: u128,
    /// The store's position in the journal; `None` in a new store.
    pub position: Option<Position>,
}

impl Totals {
    /// Updates the totals for a change of a key's value from `old` to `new`.
    pub(crate) fn exchange(&mut self, key: &str, old: Option<&[u8]>, new: Option<&[u8]>) {
        if let Some(old) = old {
            self.entries = self.entries.saturating_sub(1);
            self.root = self.root.wrapping_sub(share(key, old));
        }
        if let Some(new) = new {
            self.entries += 1;
            self.root = self.root.wrapping_add(share(key, new));
        }
    }

    /// Returns an error if these totals differ from `counted`, the totals of the counted entries.
    pub(crate) fn agree(&self, counted: &Totals) -> Result<(), StoreError> {
        if (self.entries, self.root) == (counted.entries, counted.root) {
            return Ok(());
        }
        Err(StoreError::Damaged {
            what: format!(
                "it should contain {} entries with root {:032x}, but it contains {} with root {:032x}",
                self.entries, self.root, counted.entries, counted.root
            ),
        })
    }
}

/// The root is stored as text, because some JSON readers support only 64-bit numbers.
mod root_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(root: &u128, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{root:032x}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u128, D::Error> {
        u128::from_str_radix(&String::deserialize(from)?, 16).map_err(D::Error::custom)
    }
}
