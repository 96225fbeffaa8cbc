//! Winners. A winner is the result of a search and its evidence.

use std::fmt;

use kiln_spec::{DeviceKey, Hash, LaunchPlan};
use serde::{Deserialize, Serialize};

use super::as_text;
use super::error::RecordError;
use super::text::plain_text;
use super::trial::ReferenceGrade;

/// The baseline, to which every speed-up is relative.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedBaseline {
    /// A config of the kernel itself.
    Config {
        /// Canonical text of the config.
        config: String,
    },
    /// Another kernel function (entry) of the same source.
    Entry {
        /// Name of the entry.
        entry: String,
    },
}

impl fmt::Display for RecordedBaseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordedBaseline::Config { config } => f.write_str(config),
            RecordedBaseline::Entry { entry } => write!(f, "entry {entry}"),
        }
    }
}

/// Why the baseline was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum KeptReason {
    /// No other config was valid.
    NothingValid,
    /// No config was faster in the race.
    NothingFaster,
    /// The confirmation did not prove that the finalist is faster.
    NotProven,
    /// The confirmation was too disturbed to decide.
    Inconclusive,
}

impl fmt::Display for KeptReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeptReason::NothingValid => "no other config is valid",
            KeptReason::NothingFaster => "no config raced faster",
            KeptReason::NotProven => "the finalist was not proven faster",
            KeptReason::Inconclusive => "the confirmation was inconclusive",
        })
    }
}

/// The decision at the end of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The config is proven faster than the baseline.
    Proven {
        /// Baseline time divided by the config's time, in millionths (1 100 000 is 10 % faster).
        speedup_ppm: u64,
        /// Lower end of the 95 % interval, in millionths.
        low_ppm: u64,
        /// Upper end of the 95 % interval, in millionths.
        high_ppm: u64,
    },
    /// The baseline is kept.
    BaselineKept {
        /// The reason.
        reason: KeptReason,
    },
}

/// The evidence of a confirmation. Each fresh process contributes one log-ratio, the logarithm of the config's time
/// divided by the baseline's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confirm {
    /// Number of fresh processes.
    pub processes: u32,
    /// Number of processes in which the config was faster by more than the smallest relevant effect.
    pub wins: u32,
    /// Median of the processes' log-ratios, in millionths. Negative means that the config is faster.
    pub median_log_ratio_ppm: i64,
    /// Lower end of the median's order-statistic interval, in millionths.
    pub low_log_ratio_ppm: i64,
    /// Upper end of the median's order-statistic interval, in millionths.
    pub high_log_ratio_ppm: i64,
}

/// One process of a confirmation. It is written to the journal when it ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfirmProcess {
    /// Hash of the tuning key.
    pub key: Hash,
    /// Canonical text of the finalist.
    pub config: String,
    /// Number of the confirmation of this finalist. The processes of different confirmations are never mixed.
    pub series: u64,
    /// Number of the process, from 0.
    pub process: u32,
    /// Seed of the process's random orders: of loading, of allocation, and of the blocks.
    pub seed: u64,
    /// Log-ratios (config over baseline) of the process's blocks, in millionths. A block is four samples: two of the
    /// config and two of the baseline.
    pub block_log_ratio_ppm: Vec<i64>,
    /// Number of blocks that were discarded because config and baseline ran at different clock rates.
    pub discarded_blocks: u32,
    /// Hash of the receipts of the config's and the baseline's launches.
    pub receipt: Hash,
    /// The lowest and the highest clock rate of the device in this process, in kHz; `None` if the device does not
    /// report its clock rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_khz: Option<[u32; 2]>,
}

/// The result of a search of one kernel on one problem and device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Winner {
    /// Name of the kernel.
    pub kernel: String,
    /// Canonical text of the problem.
    pub problem: String,
    /// The device.
    #[serde(with = "as_text")]
    pub device: DeviceKey,
    /// Hash of the tuning key.
    pub key: Hash,
    /// Canonical text of the winning config, or of the baseline's config if the baseline was kept.
    pub config: String,
    /// The baseline that the config was compared with.
    pub baseline: RecordedBaseline,
    /// The decision.
    pub verdict: Verdict,
    /// The evidence; `None` if no config reached the confirmation.
    pub confirm: Option<Confirm>,
    /// Hash of the receipt of the launch that was timed.
    pub receipt: Hash,
    /// The launch geometry.
    pub plan: LaunchPlan,
    /// Symbol of the kernel's entry function in a release build.
    pub symbol: String,
    /// How the outputs were verified.
    pub grade: ReferenceGrade,
}

impl Winner {
    /// Checks that the texts are printable, and that a proven verdict has a confirmation and a speed-up inside its
    /// interval.
    pub(crate) fn check(&self) -> Result<(), RecordError> {
        plain_text("kernel", &self.kernel)?;
        plain_text("problem", &self.problem)?;
        plain_text("config", &self.config)?;
        plain_text("symbol", &self.symbol)?;
        if let Verdict::Proven {
            speedup_ppm,
            low_ppm,
            high_ppm,
        } = self.verdict
        {
            if self.confirm.is_none_or(|c| c.wins > c.processes) {
                return Err(RecordError::Unproven);
            }
            if !(low_ppm <= speedup_ppm && speedup_ppm <= high_ppm) {
                return Err(RecordError::Interval {
                    value: speedup_ppm,
                    low: low_ppm,
                    high: high_ppm,
                });
            }
        }
        Ok(())
    }
}
