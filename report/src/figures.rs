//! The content of a report as plain data, which is also its JSON format.

use kiln_cache::record::{RunSettings, TimeSpent};
use serde::Serialize;

use super::best::BestConfig;
use super::convergence::Convergence;
use super::evidence::DecisionFigures;
use super::heat_map::HeatMap;
use super::histogram::Histogram;
use super::importance::Importance;
use super::outcomes::OutcomeCount;

/// The name and version of the format of [`RunFigures`].
pub const SCHEMA: &str = "kiln-report/1";

/// The figures of one run of `tune`.
#[derive(Clone, Debug, Serialize)]
pub struct RunFigures {
    /// The name and version of this format: [`SCHEMA`].
    pub schema: &'static str,
    /// The number of the run in its cache.
    pub run: u64,
    /// The version of the `tune` that ran.
    pub version: String,
    /// When the run began, in seconds since 1970.
    pub began_unix_s: u64,
    /// The seed of all random numbers of the run.
    pub seed: u64,
    /// Whether the run ended normally. It is false if the run was interrupted or has not ended yet.
    pub ended: bool,
    /// The duration of the run in nanoseconds; `None` if it has not ended normally.
    pub elapsed_ns: Option<u64>,
    /// The settings of the run; `None` if an earlier version of `tune` did not store them.
    pub settings: Option<RunSettings>,
    /// The time spent on all tasks; `None` if the run has not ended normally.
    pub spent: Option<TimeSpent>,
    /// The tasks of the run. A task is one kernel and one problem.
    pub tasks: Vec<TaskFigures>,
    /// Notes for the reader, such as a warning that the run was interrupted.
    pub notes: Vec<String>,
}

/// The figures of one task: one kernel and one problem.
#[derive(Clone, Debug, Serialize)]
pub struct TaskFigures {
    /// The name of the kernel.
    pub kernel: String,
    /// The problem, as text; empty for a kernel without sizes.
    pub problem: String,
    /// The hash of the tuning key, under which the cache stores the results.
    pub key: String,
    /// The device key, such as `cuda/sm_89/NVIDIA L4`.
    pub device: String,
    /// How far the search got, as text.
    pub state: String,
    /// Number of valid configs in the search space, if known.
    pub space: Option<u64>,
    /// The conditions under which the results were measured (compiler, flags, driver and others), as pairs of name
    /// and value.
    pub conditions: Vec<(String, String)>,
    /// The time spent on this task; `None` if the run has not ended normally.
    pub spent: Option<TimeSpent>,
    /// Number of trials of this run. A trial is one config with its outcome.
    pub trials: u64,
    /// Number of trials of earlier runs under the same tuning key. All figures include these trials, except the
    /// points of the convergence curve.
    pub earlier_trials: u64,
    /// The baseline's time in nanoseconds. Each trial gives an estimate: the config's time divided by the config's
    /// ratio to the baseline, which was measured in the same race. This field is the median of the estimates; `None` if
    /// no trial has such a ratio.
    pub baseline_ns: Option<u64>,
    /// The best time by trial and by time since the start of the run.
    pub convergence: Convergence,
    /// The number of trials with each outcome.
    pub outcomes: Vec<OutcomeCount>,
    /// The distribution of the times of valid configs; `None` if there are fewer than two different times.
    pub histogram: Option<Histogram>,
    /// The importance of each parameter for the time.
    pub importance: Importance,
    /// Heat maps: the best time for each pair of values of two parameters, for every pair of the most important
    /// parameters.
    pub heat_maps: Vec<HeatMap>,
    /// The decision and the measurements on which it is based.
    pub evidence: DecisionFigures,
    /// The best configs, best first.
    pub best: Vec<BestConfig>,
}

impl TaskFigures {
    /// Whether a config of the task was tried, or a decision is known.
    pub(super) fn is_searched(&self) -> bool {
        self.trials + self.earlier_trials > 0 || self.evidence.winner.is_some()
    }

    /// The name of the task in headings: the kernel, and the problem in parentheses.
    pub fn name(&self) -> String {
        if self.problem.is_empty() {
            return self.kernel.clone();
        }
        format!("{} ({})", self.kernel, self.problem)
    }
}
