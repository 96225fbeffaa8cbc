//! The interface between a machine and the engines: open a fresh process, run a plan, return samples.

use kiln_cache::Outcome;
use serde::{Deserialize, Serialize};

use super::arm::ArmId;
use super::fault::Fault;
use super::sample::Sample;
use super::span::Resolution;

/// How to set up a fresh process. Both orders contain the same arms. The orders are random, and the second process of a
/// pair reverses the orders of the first one, because an arm that is loaded or allocated second can be systematically
/// faster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// The order in which to load the arms' code.
    pub load: Vec<ArmId>,
    /// The order in which to allocate the arms' buffers. It matters only in labs whose arms have separate buffers.
    pub allocate: Vec<ArmId>,
}

/// A clock that counts nanoseconds from any fixed moment: wall time for a device, virtual time for a simulation. Time
/// budgets use this clock. Samples do not.
pub trait Clock {
    /// The time in nanoseconds. It never decreases.
    fn now_ns(&self) -> u64;
}

/// A machine on which processes can be opened, one at a time.
pub trait Lab: Clock {
    /// Starts a fresh process and loads the arms in the order of `opening`. Verifies that each arm is the intended one,
    /// warms it up, and determines the number of launches per sample of each arm.
    ///
    /// # Errors
    /// A [`Fault`], with the arm if an arm caused it.
    fn open(&mut self, opening: &Opening) -> Result<Box<dyn Session + '_>, Fault>;
}

/// One open process. Dropping it ends the process.
pub trait Session: Clock {
    /// Times the arms of `plan` in this order, and returns one sample per entry.
    ///
    /// # Errors
    /// A [`Fault`]. After it, the session cannot be used, and its samples of this plan are lost.
    fn run(&mut self, plan: &[ArmId]) -> Result<Vec<Sample>, Fault>;

    /// Is called once after the last plan. An implementation can check the outputs again here.
    ///
    /// # Errors
    /// A [`Fault`]. The engine then discards all samples of this session.
    fn finish(&mut self) -> Result<(), Fault> {
        Ok(())
    }
}

/// Runs a plan, and checks that there is one sample per entry and that none is shorter than the clock can resolve.
///
/// # Errors
/// The session's fault, or a fault for a missing or too short sample.
pub(super) fn run_checked(
    session: &mut dyn Session,
    plan: &[ArmId],
    resolution: Resolution,
) -> Result<Vec<Sample>, Fault> {
    let samples = session.run(plan)?;
    if samples.len() != plan.len() {
        let (asked, got) = (plan.len(), samples.len());
        return Err(Fault::unattributed(Outcome::Internal {
            message: format!("{got} samples came back for a plan of {asked}"),
        }));
    }
    for (&arm, sample) in plan.iter().zip(&samples) {
        resolution.check(arm, sample)?;
    }
    Ok(samples)
}
