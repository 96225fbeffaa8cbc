//! The output of the test of a claim: the records of its processes, and the result.

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
    /// How the process is set up.
    pub opening: Opening,
    /// The arms to time, block after block.
    pub plan: Vec<ArmId>,
}

/// The record of one process. The decision about a claim can be repeated from the records of its processes, without
/// other data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessRecord {
    /// The plan of the process.
    pub asked: ProcessPlan,
    /// One sample per entry of the plan.
    pub samples: Vec<Sample>,
}

/// The decision about a claim. Delta is the smallest relevant difference, [`ConfirmSettings::delta`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Decision {
    /// The claim is proven: the challenger is faster by more than delta in the median process.
    Faster,
    /// The claim is not proven, so the defender is kept.
    NotProven,
    /// The test could not be completed, so the defender is kept.
    Inconclusive(Doubt),
}

/// Why a claim is inconclusive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Doubt {
    /// The time limit was reached.
    BudgetSpent,
    /// A side failed, or several processes failed.
    Faulted(Fault),
    /// Too many blocks ran at different clock rates, or under a thermal or power limit.
    UnsteadyClocks,
}

/// The decision about a claim, and its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimResult {
    /// The claim.
    pub claim: Claim,
    /// The decision.
    pub decision: Decision,
    /// The statistics on which the decision is based.
    pub evidence: TestStatistics,
}

impl ClaimResult {
    /// Whether the claim is proven, so the challenger replaces the defender.
    pub fn is_faster(&self) -> bool {
        self.decision == Decision::Faster
    }
}

/// The statistics on which a decision is based.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestStatistics {
    /// Number of processes that were used.
    pub processes: u32,
    /// Number of these processes that the challenger won.
    pub wins: u32,
    /// The wealth at the end.
    pub wealth: f64,
    /// The wealth that proves the claim.
    pub proof: f64,
    /// The challenger's time divided by the defender's time in the median process; below 1, the challenger is faster.
    /// `None` without processes.
    pub median_ratio: Option<f64>,
    /// Distribution-free 95 % interval of that ratio, which is valid whenever the test stops. `None` with fewer than 6
    /// processes.
    pub interval: Option<Interval>,
    /// The measured effect of each process: the logarithm of its ratio, without the correction for the load order.
    pub log_ratios: Vec<f64>,
    /// The estimated effect of the load order in each process. It is subtracted from the measured effect.
    pub order_effects: Vec<f64>,
    /// Quartiles of all samples of the defender; `None` without samples.
    pub defender: Option<Quartiles>,
    /// Quartiles of all samples of the challenger; `None` without samples.
    pub challenger: Option<Quartiles>,
    /// Number of blocks that were run.
    pub blocks: usize,
    /// Number of these blocks that were discarded because of their clock rates or because the device was throttled.
    pub discarded_blocks: usize,
    /// The settings of the test, with the seed.
    pub settings: ConfirmSettings,
}
