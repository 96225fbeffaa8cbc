//! Names of entries in compiled artifacts.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::source::EntryPath;

/// The name of an entry in an artifact: `<entry>_<16 hexadecimal digits>`, followed by `_receipt` for the receipt
/// entry.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Symbol(String);

impl Symbol {
    /// The release symbol of an entry. It starts with the entry's own name, without namespaces and template
    /// arguments.
    pub fn release(entry: &str, hash: u64) -> Symbol {
        Symbol(format!("{}_{hash:016x}", EntryPath::base_name(entry)))
    }

    /// The receipt symbol for this release symbol.
    pub fn receipt(&self) -> Symbol {
        Symbol(format!("{}_receipt", self.0))
    }

    /// The name.
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
