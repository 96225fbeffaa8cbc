//! [`ComparedWith`], the standard with which a smoke test compares outputs.

use std::fmt;

/// What a smoke test compares outputs with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ComparedWith {
    /// The plain-Rust reference.
    Reference,
    /// The entry that the spec specifies as the reference, run on the same device.
    Entry,
    /// The baseline, run on the same device. Such a comparison shows only that the row and the baseline agree.
    Baseline,
    /// Nothing, because the kernel has no reference, and either the choice is the baseline itself or the baseline has
    /// no launch plan for the problem.
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
