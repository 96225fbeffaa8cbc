//! Winners: the result of a search and its evidence.

use std::fmt;

use kiln_spec::{DeviceKey, Hash, LaunchPlan};
use serde::{Deserialize, Serialize};

use super::as_text;
use super::error::RecordError;
use super::text::plain_text;
use super::trial::ReferenceGrade;

/// The reference of every speed-up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedBaseline {
    /// A config of the kernel itself.
    Config {
        /// Its canonical text.
        config: String,
    },
    /// Another entry of the same source.
    Entry {
        /// Its name.
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
    /// The race found nothing faster.
    NothingFaster,
    /// The finalist was not proven faster.
    NotProven,
    /// The confirmation was too disturbed to say.
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

/// The decision a search ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The config is proven faster than the baseline.
    Proven {
        /// Baseline time over the config's time, in millionths (1 100 000 is 10 % faster).
        speedup_ppm: u64,
        /// Lower end of the 95 % interval.
        low_ppm: u64,
        /// Upper end of the 95 % interval.
        high_ppm: u64,
    },
    /// The baseline stays.
    BaselineKept {
        /// Why.
        reason: KeptReason,
    },
}

/// The evidence of a confirmation: one log-ratio per process, over fresh processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confirm {
    /// Fresh processes that took part.
    pub processes: u32,
    /// Processes in which the config won by more than the smallest effect that counts.
    pub wins: u32,
    /// Median of the processes' log-ratios (config over baseline), in millionths; negative is faster.
    pub median_log_ratio_ppm: i64,
    /// Lower end of its order-statistic interval, in millionths.
    pub low_log_ratio_ppm: i64,
    /// Upper end of its order-statistic interval, in millionths.
    pub high_log_ratio_ppm: i64,
}

/// One process of a confirmation, journalled as it ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfirmProcess {
    /// Hash of the tuning key.
    pub key: Hash,
    /// Canonical text of the finalist.
    pub config: String,
    /// Which confirmation of this finalist, so that an older one never mixes into a newer.
    pub series: u64,
    /// Which process, from 0.
    pub process: u32,
    /// Seed of its load, allocation and block order.
    pub seed: u64,
    /// Log-ratios (config over baseline) of its blocks, in millionths.
    pub block_log_ratio_ppm: Vec<i64>,
    /// Blocks discarded because the two sides ran at different clocks.
    pub discarded_blocks: u32,
    /// Hash of the receipts of both sides.
    pub receipt: Hash,
    /// The slowest and the fastest clock of the device, in kHz, as reported in this process; `None` if it does
    /// not report them.
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
    /// Canonical text of the config; the baseline's own if the baseline was kept.
    pub config: String,
    /// The baseline that it was compared with.
    pub baseline: RecordedBaseline,
    /// The decision.
    pub verdict: Verdict,
    /// The evidence; `None` if nothing reached the confirmation.
    pub confirm: Option<Confirm>,
    /// Hash of the receipt of the launch that was timed.
    pub receipt: Hash,
    /// The launch.
    pub plan: LaunchPlan,
    /// Symbol of the release entry.
    pub symbol: String,
    /// The reference of the outputs.
    pub grade: ReferenceGrade,
}

impl Winner {
    /// Whether the record itself bears out its claim: a proven verdict needs a confirmation, an
    /// ordered interval, and printable texts.
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
