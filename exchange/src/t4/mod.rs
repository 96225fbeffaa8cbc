//! T4 results files, in version 1.0.0 of the schema that Kernel Tuner 1.5.0 includes.

pub(crate) mod read;
mod write;

use crate::results::Results;

impl Results {
    /// The text of a T4 results file, which also has T4's metadata.
    pub fn to_t4(&self) -> String {
        write::text(self)
    }
}
