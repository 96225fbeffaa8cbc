//! T4 results files: version 1.0.0 of the schema, as Kernel Tuner 1.5.0 ships it.

pub(crate) mod read;
mod write;

use crate::results::Results;

impl Results {
    /// As a T4 results file, with T4's metadata in the same file.
    pub fn to_t4(&self) -> String {
        write::text(self)
    }
}
