//! The symbols of entries in compiled artifacts.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::source::EntryPath;

/// The symbol of an entry in an artifact: `<entry>_<16 hexadecimal digits>`. The symbol of a receipt entry has the
/// suffix `_receipt`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Symbol(String);

impl Symbol {
    /// The symbol of a release entry. It starts with the name of the entry, without namespaces and template
    /// arguments.
    pub fn release(entry: &str, hash: u64) -> Symbol {
        Symbol(format!("{}_{hash:016x}", EntryPath::base_name(entry)))
    }

    /// The symbol of the receipt entry that belongs to this release entry.
    pub fn receipt(&self) -> Symbol {
        Symbol(format!("{}_receipt", self.0))
    }

    /// The symbol as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for Symbol {
    fn as_ref(&self) -> &str {
        &self.0
    }
}
