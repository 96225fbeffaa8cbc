//! The content of a report, as plain data.

use kiln_cache::record::{RunSettings, TimeSpent};
use serde::Serialize;

use super::best::BestConfig;
use super::convergence::Convergence;
use super::evidence::DecisionFigures;
use super::heat_map::HeatMap;
use super::histogram::Histogram;
use super::importance::Importance;
use super::outcomes::OutcomeCount;

/// Name and version of the figures' format.
pub const SCHEMA: &str = "kiln-report/1";

/// The figures of one run.
#[derive(Clone, Debug, Serialize)]
pub struct RunFigures {
    /// Name and version of this format.
    pub schema: &'static str,
    /// Number of the run in its cache.
    pub run: u64,
    /// Version of the `tune` that ran.
    pub version: String,
    /// When it began, in seconds since 1970.
    pub began_unix_s: u64,
    /// Seed of everything random.
    pub seed: u64,
    /// Whether it ended in order; a run that was cut off, or is still going on, did not.
    pub ended: bool,
    /// Its duration in nanoseconds, if it ended.
    pub elapsed_ns: Option<u64>,
    /// Its settings; `None` for a run of an earlier version.
    pub settings: Option<RunSettings>,
    /// The time spent on all tasks, if the run ended.
    pub spent: Option<TimeSpent>,
    /// Each kernel and problem.
    pub tasks: Vec<TaskFigures>,
    /// Further notes for the reader.
    pub notes: Vec<String>,
}

/// The figures of one kernel and problem.
#[derive(Clone, Debug, Serialize)]
pub struct TaskFigures {
    /// The kernel.
    pub kernel: String,
    /// The problem.
    pub problem: String,
    /// Hash of the tuning key.
    pub key: String,
    /// The device.
    pub device: String,
    /// The progress of the search, in words.
    pub state: String,
    /// Valid configs in the search space, if known.
    pub space: Option<u64>,
    /// The conditions of the results: compiler, flags, driver and so on, by name.
    pub conditions: Vec<(String, String)>,
    /// The time spent, if the run ended.
    pub spent: Option<TimeSpent>,
    /// Trials of this run.
    pub trials: u64,
    /// Trials of earlier runs under the same key, which count in everything but the curve.
    pub earlier_trials: u64,
    /// The baseline's time, in nanoseconds: the median over trials of a config's time over its ratio to the baseline,
    /// which was measured next to it.
    pub baseline_ns: Option<u64>,
    /// The best time over trials and over seconds.
    pub convergence: Convergence,
    /// The number of trials per outcome.
    pub outcomes: Vec<OutcomeCount>,
    /// The distribution of the times.
    pub histogram: Option<Histogram>,
    /// The importance of the parameters.
    pub importance: Importance,
    /// The best time for pairs of values of the most important parameters.
    pub heat_maps: Vec<HeatMap>,
    /// The decision and its evidence.
    pub evidence: DecisionFigures,
    /// The best configs, best first.
    pub best: Vec<BestConfig>,
}

impl TaskFigures {
    /// Its name in headings.
    pub fn name(&self) -> String {
        if self.problem.is_empty() {
            return self.kernel.clone();
        }
        format!("{} ({})", self.kernel, self.problem)
    }
}
