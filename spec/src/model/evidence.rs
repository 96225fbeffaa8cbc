//! What a baked row rests on.

use std::fmt;

/// How good the evidence behind a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Evidence {
    /// Confirmed against the baseline on the device itself.
    Proven,
    /// Taken from trials that were recorded elsewhere.
    Replayed,
    /// Derived from compile-time facts; never run.
    Predicted,
}

impl Evidence {
    /// Every grade, best first.
    pub const ALL: [Evidence; 3] = [Evidence::Proven, Evidence::Replayed, Evidence::Predicted];

    /// Its name in a table.
    pub fn name(self) -> &'static str {
        match self {
            Evidence::Proven => "proven",
            Evidence::Replayed => "replayed",
            Evidence::Predicted => "predicted",
        }
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
