//! The input and the result of a race.

use crate::arm::ArmId;
use crate::fault::Fault;
use crate::span::Resolution;
use crate::summary::Quartiles;
use serde::{Deserialize, Serialize};

/// The arms of a race.
#[derive(Clone, Copy, Debug)]
pub struct RaceCard<'a> {
    /// The arm that costs are relative to: the baseline, or a stand-in for a baseline that is far slower
    /// than everything else. Never dropped.
    pub anchor: ArmId,
    /// The best arm so far; the anchor itself at first.
    pub incumbent: ArmId,
    /// The arms that are new.
    pub contenders: &'a [ArmId],
}

/// The rules of a race. Thresholds are ratios of time to the leader.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RaceSettings {
    /// The largest number of rounds.
    pub most_rounds: u32,
    /// Rounds in one process before the rest moves to a fresh one.
    pub rounds_per_process: u32,
    /// An arm goes after two rounds if both its ratios are above this.
    pub hopeless: f64,
    /// An arm goes after three rounds or more if all its ratios are above this.
    pub far: f64,
    /// An arm goes after eight rounds or more if the last eight ratios are all above this.
    pub near: f64,
    /// An anchor slower than this...
    pub slow_anchor: f64,
    /// ...is sampled in that many rounds only.
    pub anchor_rounds: u32,
    /// Time for the whole race, in nanoseconds.
    pub budget_ns: u64,
    /// The clock's resolution.
    pub resolution: Resolution,
}

impl RaceSettings {
    /// The protocol's numbers, with no time limit.
    pub fn new(resolution: Resolution) -> Self {
        Self {
            most_rounds: 24,
            rounds_per_process: 8,
            hopeless: 4.0,
            far: 1.10,
            near: 1.01,
            slow_anchor: 4.0,
            anchor_rounds: 3,
            budget_ns: u64::MAX,
            resolution,
        }
    }
}

/// How an arm ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fate {
    /// In the race to the end.
    Survived,
    /// Dropped as too slow after this many rounds of its own.
    Dropped {
        /// Rounds it ran.
        at_round: u32,
    },
    /// It failed.
    Faulted(Fault),
    /// The time ran out before it was sampled against the leader.
    Unreached,
}

/// One arm's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RaceEntry {
    /// The arm.
    pub arm: ArmId,
    /// Rounds it was sampled in.
    pub rounds: u32,
    /// Its time over the incumbent's: median of the rounds.
    pub ratio_to_incumbent: Option<f64>,
    /// Its time over the anchor's: median of the rounds.
    pub ratio_to_anchor: Option<f64>,
    /// Median span of a sample, in nanoseconds.
    pub span_ns: Option<u64>,
    /// Times of one launch.
    pub summary: Option<Quartiles>,
    /// How it ended.
    pub fate: Fate,
}

/// Why a race ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stopped {
    /// Only one arm was left.
    Decided,
    /// All rounds were run.
    AllRounds,
    /// The time was up.
    BudgetSpent,
}

/// The result of a race.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RaceResult {
    /// The surviving arm with the lowest median ratio; on a tie the anchor, then the incumbent, then the
    /// lowest arm.
    pub leader: ArmId,
    /// One entry per arm: anchor, incumbent, contenders in their order.
    pub entries: Vec<RaceEntry>,
    /// Rounds run.
    pub rounds: u32,
    /// Processes opened.
    pub processes: u32,
    /// Samples taken, those of void processes included.
    pub samples: u64,
    /// Why it ended.
    pub stopped: Stopped,
}

impl RaceResult {
    /// The entry of an arm.
    pub fn entry(&self, arm: ArmId) -> Option<&RaceEntry> {
        self.entries.iter().find(|entry| entry.arm == arm)
    }

    /// The arms in the race to the end.
    pub fn survivors(&self) -> impl Iterator<Item = &RaceEntry> {
        self.entries
            .iter()
            .filter(|entry| entry.fate == Fate::Survived)
    }
}
