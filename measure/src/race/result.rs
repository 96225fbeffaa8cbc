//! The input and the result of a race.

use crate::arm::ArmId;
use crate::fault::Fault;
use crate::span::Resolution;
use crate::summary::Quartiles;
use serde::{Deserialize, Serialize};

/// The arms of a race.
#[derive(Clone, Copy, Debug)]
pub struct RaceCard<'a> {
    /// The arm to which costs are relative. It is the baseline, or another arm if the baseline is much slower than all
    /// other arms. The anchor is never dropped.
    pub anchor: ArmId,
    /// The best arm so far; the anchor in the first race.
    pub incumbent: ArmId,
    /// The new arms.
    pub contenders: &'a [ArmId],
}

/// The rules of a race. Thresholds are ratios of an arm's time to the leader's time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RaceSettings {
    /// The largest number of rounds.
    pub most_rounds: u32,
    /// Number of rounds in one process. After them, the remaining arms move to a fresh process.
    pub rounds_per_process: u32,
    /// An arm is dropped after two rounds or more if all its ratios are above this value.
    pub hopeless: f64,
    /// An arm is dropped after three rounds or more if all its ratios are above this value.
    pub far: f64,
    /// An arm is dropped after eight rounds or more if its last eight ratios are all above this value.
    pub near: f64,
    /// An anchor whose ratio is above this is slow.
    pub slow_anchor: f64,
    /// Number of rounds in which a slow anchor is sampled.
    pub anchor_rounds: u32,
    /// Time limit of the race, in nanoseconds.
    pub budget_ns: u64,
    /// The clock's resolution.
    pub resolution: Resolution,
}

impl RaceSettings {
    /// The settings of the protocol, without a time limit.
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

/// The fate of an arm in a race.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fate {
    /// The arm was in the race to the end.
    Survived,
    /// The arm was dropped because it was too slow.
    Dropped {
        /// Number of rounds in which the arm had run.
        at_round: u32,
    },
    /// The arm failed.
    Faulted(Fault),
    /// The time limit was reached before the arm was compared with the leader.
    Unreached,
}

/// The result of one arm in a race.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RaceEntry {
    /// The arm.
    pub arm: ArmId,
    /// Number of rounds in which the arm was sampled.
    pub rounds: u32,
    /// The arm's time divided by the incumbent's time, as the median of the rounds; `None` if the two were not
    /// compared.
    pub ratio_to_incumbent: Option<f64>,
    /// The arm's time divided by the anchor's time, as the median of the rounds; `None` if the two were not compared.
    pub ratio_to_anchor: Option<f64>,
    /// Median span of the arm's samples, in nanoseconds; `None` without samples.
    pub span_ns: Option<u64>,
    /// Quartiles of the time of one launch; `None` without samples.
    pub summary: Option<Quartiles>,
    /// The fate of the arm.
    pub fate: Fate,
}

/// Why a race ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stopped {
    /// The leader had no rival left.
    Decided,
    /// All rounds were run.
    AllRounds,
    /// The time limit was reached.
    BudgetSpent,
}

/// The result of a race.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RaceResult {
    /// The surviving arm with the lowest median ratio. On a tie it is the anchor, then the incumbent, then the arm with
    /// the lowest number.
    pub leader: ArmId,
    /// One entry per arm: the anchor, the incumbent, and the contenders in their order.
    pub entries: Vec<RaceEntry>,
    /// Number of rounds that were run.
    pub rounds: u32,
    /// Number of processes that were opened.
    pub processes: u32,
    /// Number of samples that were taken, including those of processes whose rounds were discarded.
    pub samples: u64,
    /// Why the race ended.
    pub stopped: Stopped,
}

impl RaceResult {
    /// The entry of an arm; `None` if the arm was not in the race.
    pub fn entry(&self, arm: ArmId) -> Option<&RaceEntry> {
        self.entries.iter().find(|entry| entry.arm == arm)
    }

    /// The entries of the arms that were in the race to the end.
    pub fn survivors(&self) -> impl Iterator<Item = &RaceEntry> {
        self.entries
            .iter()
            .filter(|entry| entry.fate == Fate::Survived)
    }
}
