//! The interface of a machine to the engines: open a fresh process, run a plan, return samples.

use kiln_cache::Outcome;
use serde::{Deserialize, Serialize};

use super::arm::ArmId;
use super::fault::Fault;
use super::sample::Sample;
use super::span::Resolution;

/// How to set up a fresh process. Both orders hold the same arms; they are drawn anew for
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
    /// A [`Fault`], which names the arm if one is to blame.
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

/// Runs a plan and checks the samples: one sample for each entry, none shorter than the clock resolves.
///
/// # Errors
/// The session's fault, or one of its own for a sample that is missing or too short.
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
