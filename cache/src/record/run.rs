//! Runs of `tune`: their settings and the time spent.

use std::collections::BTreeMap;

use kiln_spec::Hash;
use serde::{Deserialize, Serialize};

use super::error::{MAX_TEXT, RecordError};
use super::text::plain_text;
use super::winner::Winner;

/// A run of `tune` began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStarted {
    /// Number of the run in this cache, from 1.
    pub run: u64,
    /// Version of `tune`.
    pub version: String,
    /// Seconds since 1970.
    pub unix_s: u64,
    /// Seed of every random choice of the run.
    pub seed: u64,
    /// Its settings; `None` in records of earlier programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<RunSettings>,
}

/// The settings of a run, and the machine that it ran on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSettings {
    /// The command line, as a shell would read it.
    pub command: String,
    /// The device's name on the command line.
    pub device: String,
    /// The machine: processor, logical cores, memory, system.
    pub machine: String,
    /// Cold or hot.
    pub regime: String,
    /// The strategy's name.
    pub strategy: String,
    /// Time for everything, in nanoseconds; `None` for no limit.
    pub budget_ns: Option<u64>,
    /// Configs per kernel and problem; `None` for no limit.
    pub trials: Option<u64>,
    /// Compile threads.
    pub jobs: u64,
    /// Who measured: the host's name, and the identity of the device among others of its kind (a UUID, the size of its
    /// memory). It is in no key, so that what one device measured is known to the next. Empty in records of earlier
    /// programs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub observer: BTreeMap<String, String>,
}

/// A run of `tune` ended normally.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnded {
    /// Number of the run.
    pub run: u64,
    /// Seconds since 1970.
    pub unix_s: u64,
    /// How long it took, in nanoseconds; `None` in records of earlier programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_ns: Option<u64>,
    /// The outcome of each kernel and problem; empty in records of earlier programs.
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
    /// How far the search went, in a few words.
    pub state: String,
    /// Valid configs in the search space.
    pub space: u64,
    /// The decision as it stood then.
    pub winner: Option<Winner>,
    /// The time spent.
    pub spent: TimeSpent,
}

/// The time spent on a task, by the wall clock, in nanoseconds. What is in none of the parts went into the
/// baseline's preparation and the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeSpent {
    /// In the strategy: choosing configs and taking in their results.
    pub strategy_ns: u64,
    /// Compiling, all threads at once.
    pub compile_ns: u64,
    /// Verifying.
    pub verify_ns: u64,
    /// Racing.
    pub race_ns: u64,
    /// From the last race to the decision: play-off, checking build, confirmation.
    pub confirm_ns: u64,
    /// All of the task.
    pub elapsed_ns: u64,
}

impl TimeSpent {
    /// The time in none of the named parts.
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

/// The most JSON of a run's tasks that one record takes, with room to spare.
const MAX_JSON: usize = 512 << 10;

impl RunEnded {
    /// Leaves out parts that do not fit one record: first the decisions, which are stored under their keys too, then
    /// the tasks.
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

/// A text fit for a record: control characters escaped, cut to the length of a name-like field, `?` for nothing.
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
