//! The failure of a process, or of one arm in it.

use kiln_cache::Outcome;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::arm::ArmId;

/// The failure of a process, or of one arm in it. [`Fault::ends_the_run`] tells whether the run can continue.
///
/// The engines (race, confirmation, comparison and survey) use only the arm, and whether the device is lost or a disk
/// is full. They do not interpret the rest of the outcome.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error("{}{outcome}", .arm.map(|arm| format!("{arm}: ")).unwrap_or_default())]
pub struct Fault {
    /// The arm that caused the failure; `None` if it is unknown.
    pub arm: Option<ArmId>,
    /// The outcome of the launch.
    pub outcome: Outcome,
}

impl Fault {
    /// A fault that one arm caused.
    pub fn of(arm: ArmId, outcome: Outcome) -> Self {
        Self {
            arm: Some(arm),
            outcome,
        }
    }

    /// A fault that cannot be attributed to an arm.
    pub fn unattributed(outcome: Outcome) -> Self {
        Self { arm: None, outcome }
    }

    /// Whether nothing more can be measured in this run, because the device is lost, a disk is full, a part of the compiler
    /// is not installed, or the time of the run ended.
    pub fn ends_the_run(&self) -> bool {
        matches!(
            self.outcome,
            Outcome::DeviceLost { .. }
                | Outcome::DiskFull { .. }
                | Outcome::NotInstalled { .. }
                | Outcome::OutOfTime
        )
    }
}
