//! How a process, or one arm in it, fails.

use kiln_cache::Outcome;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::arm::ArmId;

/// A process, or one arm in it, failed. A value, not the end of a run.
///
/// The engines look at who is to blame and whether the device is gone; the outcome is stored as the code that
/// launched the arm reported it.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error("{}{outcome}", .arm.map(|arm| format!("{arm}: ")).unwrap_or_default())]
pub struct Fault {
    /// The arm to blame, if known.
    pub arm: Option<ArmId>,
    /// The outcome.
    pub outcome: Outcome,
}

impl Fault {
    /// A fault of one arm.
    pub fn of(arm: ArmId, outcome: Outcome) -> Self {
        Self {
            arm: Some(arm),
            outcome,
        }
    }

    /// A fault with no arm to blame.
    pub fn unattributed(outcome: Outcome) -> Self {
        Self { arm: None, outcome }
    }

    /// Whether nothing more can be measured in this run.
    pub fn ends_the_run(&self) -> bool {
        matches!(
            self.outcome,
            Outcome::DeviceLost { .. } | Outcome::DiskFull { .. }
        )
    }
}
