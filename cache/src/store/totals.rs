//! A store's own book-keeping.

use serde::{Deserialize, Serialize};

use super::change::Position;
use super::error::StoreError;
use super::value::share;

/// How much a store holds, by its own book-keeping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Entries.
    pub entries: u64,
    /// Sum of the hashes of all entries, modulo 2^128: the same for the same entries in any order.
    #[serde(with = "root_text")]
    pub root: u128,
    /// The store's position in the journal; `None` in a new one.
    pub position: Option<Position>,
}

impl Totals {
    /// Moves the totals from an old value of a key to a new one.
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

    /// Compares the book-keeping with the counted entries.
    pub(crate) fn agree(&self, counted: &Totals) -> Result<(), StoreError> {
        if (self.entries, self.root) == (counted.entries, counted.root) {
            return Ok(());
        }
        Err(StoreError::Damaged {
            what: format!(
                "it should hold {} entries with root {:032x}, it holds {} with {:032x}",
                self.entries, self.root, counted.entries, counted.root
            ),
        })
    }
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
