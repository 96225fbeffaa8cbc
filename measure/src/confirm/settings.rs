//! A claim and the settings of its test.

use crate::arm::ArmId;
use crate::span::Resolution;
use serde::{Deserialize, Serialize};

/// "The challenger is faster than the defender."
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The side that stays unless the claim is proven.
    pub defender: ArmId,
    /// The side that would replace it.
    pub challenger: ArmId,
}

impl Claim {
    /// The regression alarm: "the baked config is now slower than the baseline", which is the same claim
    /// with the sides swapped. FASTER then means that the baseline is proven faster.
    pub fn regression(baked: ArmId, baseline: ArmId) -> Self {
        Self {
            defender: baked,
            challenger: baseline,
        }
    }
}

/// The result of the race. Only used to decide how many blocks a process runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RaceEstimate {
    /// Time of the challenger over that of the defender.
    pub ratio: f64,
    /// Span of one sample of the defender, in nanoseconds.
    pub defender_span_ns: u64,
    /// Span of one sample of the challenger, in nanoseconds.
    pub challenger_span_ns: u64,
}

/// How a claim is tested.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfirmSettings {
    /// A process is won if it finds the challenger faster by more than this share (0.01: 1 %).
    pub delta: f64,
    /// Claims made in the same run; each then needs that many times the wealth.
    pub claims: u32,
    /// The largest number of processes.
    pub most_processes: u32,
    /// The largest number of blocks per process.
    pub most_blocks: usize,
    /// Time that the blocks of one process should not exceed, in nanoseconds.
    pub process_ns: u64,
    /// Time for the whole claim, in nanoseconds.
    pub budget_ns: u64,
    /// The clock's resolution.
    pub resolution: Resolution,
    /// Decides every order.
    pub seed: u64,
}

impl ConfirmSettings {
    /// The protocol's numbers: delta 1 %, one claim, 24 processes of 12 blocks, no time limit.
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
