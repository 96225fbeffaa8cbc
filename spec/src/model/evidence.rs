//! The kinds of evidence that support a baked row (one config for one problem on one device).

use std::fmt;

/// The kind of evidence behind a baked row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Evidence {
    /// `tune` confirmed the config against the baseline on the device itself.
    Proven,
    /// The config is the best of the trials in a recording from elsewhere.
    Replayed,
    /// The config was chosen from facts that are known at compile time. It never ran.
    Predicted,
}

impl Evidence {
    /// Every kind of evidence, best first.
    pub const ALL: [Evidence; 3] = [Evidence::Proven, Evidence::Replayed, Evidence::Predicted];

    /// The name of this kind of evidence in a baked table.
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
