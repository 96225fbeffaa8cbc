//! Identifies the kernels that are launched and timed.

use serde::{Deserialize, Serialize};

/// An arm: a kernel with a config that can be launched and timed. Only the caller interprets the number, for example as
/// an index into its candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ArmId(pub usize);

impl std::fmt::Display for ArmId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "arm {}", self.0)
    }
}
