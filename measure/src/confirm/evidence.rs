//! The output of a test of a claim: records of its processes, and the result.

use super::settings::{Claim, ConfirmSettings};
use crate::arm::ArmId;
use crate::fault::Fault;
use crate::interval::Interval;
use crate::lab::Opening;
use crate::sample::Sample;
use crate::summary::Quartiles;
use serde::{Deserialize, Serialize};

/// The plan of one process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessPlan {
    /// How it is set up.
    pub opening: Opening,
    /// Its blocks, one after the other.
    pub plan: Vec<ArmId>,
}

/// The record of one process, complete enough to repeat the decision from records alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessRecord {
    /// Its plan.
    pub asked: ProcessPlan,
    /// One sample for each entry of the plan.
    pub samples: Vec<Sample>,
}

/// The decision about a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Decision {
    /// Proven: the challenger is faster by more than delta in the median process.
    Faster,
    /// Not proven: the defender stays.
    NotProven,
    /// The test could not be carried through: the defender stays.
    Inconclusive(Doubt),
}

/// Why a claim is inconclusive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Doubt {
    /// The time ran out.
    BudgetSpent,
    /// A side failed, or processes kept dying.
    Faulted(Fault),
    /// Too many blocks ran at different clocks or under a thermal or power brake.
    UnsteadyClocks,
}

/// A decision with the evidence behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimResult {
    /// The claim.
    pub claim: Claim,
    /// The decision.
    pub decision: Decision,
    /// The statistics that it is based on.
    pub evidence: TestStatistics,
}

impl ClaimResult {
    /// Whether the challenger replaces the defender.
    pub fn is_faster(&self) -> bool {
        self.decision == Decision::Faster
    }
}

/// The statistics that a decision is based on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestStatistics {
    /// Processes that counted.
    pub processes: u32,
    /// Of these, won by the challenger.
    pub wins: u32,
    /// The wealth at the end.
    pub wealth: f64,
    /// The wealth that would have been proof.
    pub proof: f64,
    /// Time of the challenger over that of the defender in the median process; below 1 is faster.
    pub median_ratio: Option<f64>,
    /// Distribution-free 95 % interval of that ratio, honest under optional stopping.
    pub interval: Option<Interval>,
    /// The effect of each process as measured: logarithm of its ratio.
    pub log_ratios: Vec<f64>,
    /// The effect of the load order that was subtracted from each.
    pub order_effects: Vec<f64>,
    /// All samples of the defender.
    pub defender: Option<Quartiles>,
    /// All samples of the challenger.
    pub challenger: Option<Quartiles>,
    /// Blocks run.
    pub blocks: usize,
    /// Of these, discarded for their clocks.
    pub discarded_blocks: usize,
    /// The settings, with the seed.
    pub settings: ConfirmSettings,
}
