//! The standard with which a smoke test compared outputs.

use std::fmt;

/// The grade of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ComparedWith {
    /// A plain-Rust reference.
    Reference,
    /// The entry that the spec names as reference, run on the same device.
    Entry,
    /// The baseline, run on the same device: this shows only that the two agree.
    Baseline,
    /// Nothing: there is no reference, and this is the baseline itself.
    Nothing,
}

impl fmt::Display for ComparedWith {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ComparedWith::Reference => "the reference",
            ComparedWith::Entry => "the reference entry",
            ComparedWith::Baseline => "the baseline",
            ComparedWith::Nothing => "nothing",
        })
    }
}
