//! A claim and the settings of its test.

use crate::arm::ArmId;
use crate::span::Resolution;
use serde::{Deserialize, Serialize};

/// The claim "the challenger is faster than the defender".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The side that is kept unless the claim is proven.
    pub defender: ArmId,
    /// The side that replaces the defender if the claim is proven.
    pub challenger: ArmId,
}

impl Claim {
    /// The claim "the baked config is now slower than the baseline", which detects regressions. The sides of the usual
    /// claim are swapped, so [`Decision::Faster`](super::Decision::Faster) means that the baseline is proven faster.
    pub fn regression(baked: ArmId, baseline: ArmId) -> Self {
        Self {
            defender: baked,
            challenger: baseline,
        }
    }
}

/// An estimate of the two sides' times from the race. It is only used to decide how many blocks a process runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RaceEstimate {
    /// The challenger's time divided by the defender's time.
    pub ratio: f64,
    /// Span of one sample of the defender, in nanoseconds.
    pub defender_span_ns: u64,
    /// Span of one sample of the challenger, in nanoseconds.
    pub challenger_span_ns: u64,
}

/// The settings of the test of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfirmSettings {
    /// A process is a win if it finds the challenger faster by more than this fraction (0.01 is 1 %).
    pub delta: f64,
    /// Number of claims in the same run. The wealth that each claim needs is multiplied by it.
    pub claims: u32,
    /// The largest number of processes.
    pub most_processes: u32,
    /// The largest number of blocks per process.
    pub most_blocks: usize,
    /// Time that the blocks of one process should take at most, in nanoseconds.
    pub process_ns: u64,
    /// Time limit of the whole test, in nanoseconds.
    pub budget_ns: u64,
    /// The clock's resolution.
    pub resolution: Resolution,
    /// Seed of all random orders.
    pub seed: u64,
}

impl ConfirmSettings {
    /// The settings of the protocol: delta 1 %, one claim, at most 24 processes of at most 12 blocks, no time limit.
    pub fn new(resolution: Resolution, seed: u64) -> Self {
        Self {
            delta: 0.01,
            claims: 1,
            most_processes: 24,
            most_blocks: 12,
            process_ns: 2_000_000_000,
            budget_ns: u64::MAX,
            resolution,
            seed,
        }
    }
}
