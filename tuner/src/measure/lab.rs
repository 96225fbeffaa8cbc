//! What the engines ask of a machine: open a fresh process, run a plan, return samples.

use super::span::Resolution;
use kiln_spec::time::Nanoseconds;
use serde::{Deserialize, Serialize};
use thiserror::Error;

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

/// One timed sample: `launches` launches of one arm, back to back, between two reads of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// From the first launch to the end of the last, in nanoseconds.
    pub span_ns: u64,
    /// How many launches the span holds; at least 1.
    pub launches: u32,
    /// The device clock while the sample ran, in kHz, where the device tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_khz: Option<u32>,
    /// The device reported a thermal or power brake during the sample.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub throttled: bool,
}

impl Sample {
    /// A sample of `launches` launches that spanned `span_ns`, with nothing known about clocks.
    pub fn new(span_ns: u64, launches: u32) -> Self {
        Self {
            span_ns,
            launches: launches.max(1),
            clock_khz: None,
            throttled: false,
        }
    }

    /// Nanoseconds of one launch, rounded to the nearest.
    pub fn launch_ns(&self) -> u64 {
        let launches = u64::from(self.launches.max(1));
        (self.span_ns + launches / 2) / launches
    }

    /// Natural logarithm of the nanoseconds of one launch, unrounded. A span of zero counts as
    /// 1 ns, so that the result is finite.
    pub fn log_ns(&self) -> f64 {
        (self.span_ns.max(1) as f64 / f64::from(self.launches.max(1))).ln()
    }
}

/// How a fresh process is to be set up. Both orders hold the same arms; they are drawn anew for
/// every process, because whatever is loaded or allocated second can be systematically faster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// The order in which to load the arms' code.
    pub load: Vec<ArmId>,
    /// The order in which to allocate the arms' buffers, for labs whose arms have buffers of their own.
    pub allocate: Vec<ArmId>,
}

/// Time spent, in nanoseconds since any fixed moment: wall time for a device, virtual time for a
/// simulation. Budgets are counted on it; launches are not.
pub trait Clock {
    /// Nanoseconds since the clock's own start; never goes back.
    fn now_ns(&self) -> u64;
}

/// A machine on which processes can be opened, one at a time.
pub trait Lab: Clock {
    /// Starts a fresh process, loads the arms in the order given, verifies that each is the arm
    /// meant, warms each, and fixes how many launches a sample of it takes.
    ///
    /// # Errors
    /// A [`Fault`], naming the arm where one is to blame.
    fn open(&mut self, opening: &Opening) -> Result<Box<dyn Session + '_>, Fault>;
}

/// One open process. Dropping it ends the process.
pub trait Session: Clock {
    /// Times the arms of `plan` in that order and returns one sample for each entry.
    ///
    /// # Errors
    /// A [`Fault`]; the session is then dead and its samples of this plan are lost.
    fn run(&mut self, plan: &[ArmId]) -> Result<Vec<Sample>, Fault>;

    /// Called once after the last plan: the place for checking outputs again after timing.
    ///
    /// # Errors
    /// A [`Fault`]; the engine then discards every sample of this session.
    fn finish(&mut self) -> Result<(), Fault> {
        Ok(())
    }
}

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

/// Runs a plan and checks the answer: one sample for each entry, none shorter than the clock resolves.
///
/// # Errors
/// The session's fault, [`FaultCause::MissingSamples`] or [`FaultCause::BelowResolution`].
pub(super) fn run_checked(
    session: &mut dyn Session,
    plan: &[ArmId],
    resolution: Resolution,
) -> Result<Vec<Sample>, Fault> {
    let samples = session.run(plan)?;
    if samples.len() != plan.len() {
        let (asked, got) = (plan.len(), samples.len());
        return Err(Fault::unattributed(FaultCause::MissingSamples {
            asked,
            got,
        }));
    }
    for (&arm, sample) in plan.iter().zip(&samples) {
        resolution.check(arm, sample)?;
    }
    Ok(samples)
}
