//! How a process, or one arm in it, fails.

use kiln_spec::time::Nanoseconds;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::arm::ArmId;

/// A process, or one arm in it, failed. A value, not the end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error("{}{cause}", .arm.map(|arm| format!("{arm}: ")).unwrap_or_default())]
pub struct Fault {
    /// The arm to blame, where known.
    pub arm: Option<ArmId>,
    /// What happened.
    pub cause: FaultCause,
}

impl Fault {
    /// A fault of one arm.
    pub fn of(arm: ArmId, cause: FaultCause) -> Self {
        Self {
            arm: Some(arm),
            cause,
        }
    }

    /// A fault with no arm to blame.
    pub fn unattributed(cause: FaultCause) -> Self {
        Self { arm: None, cause }
    }
}

/// The causes of a [`Fault`].
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum FaultCause {
    /// The code could not be loaded, or is not the arm meant.
    #[error("the artifact could not be loaded: {0}")]
    LoadFailed(String),
    /// A launch returned an error.
    #[error("the launch failed: {0}")]
    LaunchFailed(String),
    /// The arm or its buffers ask for more than the device has.
    #[error("over a limit of the device: {0}")]
    LimitsExceeded(String),
    /// A deadline passed.
    #[error("no answer within {}", Nanoseconds(*limit_ns))]
    TimedOut {
        /// The deadline, in nanoseconds.
        limit_ns: u64,
    },
    /// The process died.
    #[error("the worker process was lost: {0}")]
    WorkerLost(String),
    /// The output was wrong, before or after timing.
    #[error("the output is incorrect: {0}")]
    Incorrect(String),
    /// A sample shorter than the clock can resolve.
    #[error("a sample spans {span_ns} ns, and {least_ns} ns is the least that the clock resolves")]
    BelowResolution {
        /// The sample's span, in nanoseconds.
        span_ns: u64,
        /// The shortest span allowed, in nanoseconds.
        least_ns: u64,
    },
    /// The session answered with a number of samples unlike the plan's.
    #[error("{got} samples came back for a plan of {asked}")]
    MissingSamples {
        /// Entries of the plan.
        asked: usize,
        /// Samples returned.
        got: usize,
    },
    /// The device is gone: nothing more can be measured.
    #[error("the device was lost: {0}")]
    DeviceLost(String),
}
