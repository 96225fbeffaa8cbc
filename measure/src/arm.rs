//! The kernels that are launched and timed, by number.

use serde::{Deserialize, Serialize};

/// One thing that can be launched and timed: a kernel with a config. The number means something
/// to the caller only (an index into its candidates, say).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ArmId(pub usize);

impl std::fmt::Display for ArmId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "arm {}", self.0)
    }
}
