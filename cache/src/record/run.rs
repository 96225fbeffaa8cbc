//! Runs of `tune`: their settings, and the time that they spent.

use std::collections::BTreeMap;

use kiln_spec::Hash;
use serde::{Deserialize, Serialize};

use super::error::{MAX_TEXT, RecordError};
use super::text::plain_text;
use super::winner::Winner;

/// The beginning of a run of `tune`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStarted {
    /// Number of the run in this cache, from 1.
    pub run: u64,
    /// Version of `tune`.
    pub version: String,
    /// When the run began, in seconds since 1970.
    pub unix_s: u64,
    /// Seed of all random choices of the run.
    pub seed: u64,
    /// The run's settings; `None` in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<RunSettings>,
}

/// The settings of a run, and the machine that it ran on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSettings {
    /// The command line, as a shell would read it.
    pub command: String,
    /// The device, as it was written on the command line.
    pub device: String,
    /// Description of the machine: processor, logical cores, memory, operating system.
    pub machine: String,
    /// The cache regime of the measurements, `cold` or `hot`.
    pub regime: String,
    /// Name of the search strategy.
    pub strategy: String,
    /// Time budget of the run, in nanoseconds; `None` for no limit.
    pub budget_ns: Option<u64>,
    /// Largest number of configs to try per kernel and problem; `None` for no limit.
    pub trials: Option<u64>,
    /// Number of compile threads.
    pub jobs: u64,
    /// The observer: the host's name, and properties that identify the device among others of its kind (a UUID, the
    /// size of its memory). These properties are not part of a tuning key, so results of one device are valid for
    /// another device of the same kind. Empty in records of earlier versions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub observer: BTreeMap<String, String>,
}

/// The normal end of a run of `tune`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnded {
    /// Number of the run.
    pub run: u64,
    /// When the run ended, in seconds since 1970.
    pub unix_s: u64,
    /// Duration of the run, in nanoseconds; `None` in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_ns: Option<u64>,
    /// The outcome of each kernel and problem; empty in records of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskEnded>,
}

/// The outcome of one kernel and problem in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskEnded {
    /// Name of the kernel.
    pub kernel: String,
    /// Canonical text of the problem.
    pub problem: String,
    /// Hash of the tuning key.
    pub key: Hash,
    /// How much of the search was done, in a few words.
    pub state: String,
    /// Number of valid configs in the search space.
    pub space: u64,
    /// The decision at the end of the run; `None` if there was none.
    pub winner: Option<Winner>,
    /// The time spent on the task.
    pub spent: TimeSpent,
}

/// The time spent on a task by the wall clock, in nanoseconds. Time that is counted only in `elapsed_ns` was spent on
/// preparing the baseline and on the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeSpent {
    /// Time in the strategy, which chooses configs and receives their results.
    pub strategy_ns: u64,
    /// Time of compiling. The times of threads that compile in parallel are not added up.
    pub compile_ns: u64,
    /// Time of verifying.
    pub verify_ns: u64,
    /// Time of racing.
    pub race_ns: u64,
    /// Time from the last race to the decision: play-off, check build, confirmation.
    pub confirm_ns: u64,
    /// Total time of the task.
    pub elapsed_ns: u64,
}

impl TimeSpent {
    /// The time that only `elapsed_ns` counts.
    pub fn other_ns(&self) -> u64 {
        let parts = [
            self.strategy_ns,
            self.compile_ns,
            self.verify_ns,
            self.race_ns,
            self.confirm_ns,
        ];
        parts
            .iter()
            .fold(self.elapsed_ns, |left, part| left.saturating_sub(*part))
    }
}

impl std::ops::AddAssign for TimeSpent {
    fn add_assign(&mut self, other: TimeSpent) {
        let parts = [
            (&mut self.strategy_ns, other.strategy_ns),
            (&mut self.compile_ns, other.compile_ns),
            (&mut self.verify_ns, other.verify_ns),
            (&mut self.race_ns, other.race_ns),
            (&mut self.confirm_ns, other.confirm_ns),
            (&mut self.elapsed_ns, other.elapsed_ns),
        ];
        for (sum, part) in parts {
            *sum = sum.saturating_add(part);
        }
    }
}

impl RunStarted {
    pub(crate) fn check(&self) -> Result<(), RecordError> {
        plain_text("version", &self.version)?;
        let Some(settings) = &self.settings else {
            return Ok(());
        };
        plain_text("command", &settings.command)?;
        plain_text("device", &settings.device)?;
        plain_text("machine", &settings.machine)?;
        plain_text("regime", &settings.regime)?;
        plain_text("strategy", &settings.strategy)?;
        let mut texts = settings.observer.iter().flat_map(<[&String; 2]>::from);
        texts.try_for_each(|text| plain_text("observer", text))
    }
}

impl RunEnded {
    pub(crate) fn check(&self) -> Result<(), RecordError> {
        self.tasks.iter().try_for_each(|task| {
            plain_text("kernel", &task.kernel)?;
            plain_text("problem", &task.problem)?;
            plain_text("state", &task.state)?;
            task.winner.as_ref().map_or(Ok(()), Winner::check)
        })
    }
}

/// Largest JSON of a [`RunEnded`], in bytes. It is below the limit of a record.
const MAX_JSON: usize = 512 << 10;

impl RunEnded {
    /// Removes parts until the record fits: first the decisions, which are also stored under their keys, and then all
    /// tasks.
    pub(crate) fn fitted(mut self) -> RunEnded {
        let fits =
            |run: &RunEnded| serde_json::to_string(run).is_ok_and(|json| json.len() <= MAX_JSON);
        if !fits(&self) {
            self.tasks.iter_mut().for_each(|task| task.winner = None);
        }
        if !fits(&self) {
            self.tasks.clear();
        }
        self
    }
}

/// A text that is valid in a record. Control characters are escaped, a long text is cut, and an empty text becomes `?`.
pub fn printable(text: &str) -> String {
    let mut fit = String::new();
    for char in text.chars() {
        let from = fit.len();
        if char.is_control() {
            fit.extend(char.escape_default());
        } else {
            fit.push(char);
        }
        if fit.len() > MAX_TEXT {
            fit.truncate(from);
            break;
        }
    }
    if fit.is_empty() { "?".into() } else { fit }
}
