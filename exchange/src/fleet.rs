//! The state of a fleet's plan, as `tune fleet status --json` prints it. The crate `kiln-fleet` defines plans and their
//! elements.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The state of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanStatus {
    /// Identity of the plan.
    pub plan: String,
    /// The name, in `allowed_signers`, of the person who signed this plan and the plans that it continues; `None` if
    /// the signatures were not checked.
    #[serde(default)]
    pub signed_by: Option<String>,
    /// Number of the plan's elements. An element is the work of one job on one device.
    pub elements: usize,
    /// Numbers of the elements that are finished.
    pub finished: Vec<u32>,
    /// Number of devices that must prove a config before it becomes a row of a table.
    pub replicas: u32,
    /// Number of attempts that published records.
    pub journals: usize,
    /// Number of published records.
    pub records: usize,
    /// A hash of all published records. Stores with equal contents have equal hashes.
    pub root: String,
    /// The tasks: every kernel and problem on every kind of device.
    pub tasks: Vec<TaskStatus>,
    /// Descriptions of the problems that were found in the store.
    pub complaints: Vec<String>,
}

/// The state of a task: one kernel and problem on one kind of device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskStatus {
    /// The plan's name for the kind of device.
    pub kind: String,
    /// Name of the kernel.
    pub kernel: String,
    /// Canonical text of the problem.
    pub problem: String,
    /// The state of the task.
    pub state: TaskState,
    /// The config that is proven, that more devices must still prove, or that was rejected after it had been proven;
    /// `None` in the other states.
    pub config: Option<String>,
    /// Why the config cannot become a row, if the state is [`TaskState::Stopped`]; or why the task is missing, if an
    /// attempt ended before a decision. `None` otherwise.
    pub why: Option<String>,
    /// Number of distinct devices that have proven the config.
    pub devices: usize,
    /// The least favourable of the proven speed-ups; `None` if the config is not proven.
    pub speedup: Option<Speedup>,
    /// Numbers of the elements that contain this task and have not finished it.
    pub unfinished_elements: Vec<u32>,
    /// The result of each session. A session is one attempt at an element.
    pub sessions: Vec<SessionStatus>,
}

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// Enough devices have proven a config.
    Proven,
    /// Fewer devices have proven the config than the plan requires.
    NeedsReplica,
    /// The searches have different winners. These winners must race in one further session.
    Searched,
    /// A confirmation did not prove the config, or the devices that proved it contradict each other. The baseline is
    /// kept.
    Stopped,
    /// No session proved a config, so the baseline is kept.
    Kept,
    /// No element has finished the task.
    Missing,
}

/// The result of one session for a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionStatus {
    /// Name of the device's host; `None` if it is unknown.
    pub host: Option<String>,
    /// UUID of the device; `None` if it has none.
    pub uuid: Option<String>,
    /// Stage of the session's element: `search`, `final` or `replicate`.
    pub stage: String,
    /// Number of the session's element.
    pub element: u32,
    /// The config that the session decided on; `None` if it made no decision.
    pub config: Option<String>,
    /// The proven speed-up of this config; `None` if the session kept the baseline.
    pub speedup: Option<Speedup>,
}

/// A speed-up (the baseline's time divided by the config's time) and the ends of its 95 % interval, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Speedup {
    /// The speed-up, in millionths.
    pub ppm: u64,
    /// The lower end of the interval, in millionths.
    pub low_ppm: u64,
    /// The upper end of the interval, in millionths.
    pub high_ppm: u64,
}

impl PlanStatus {
    /// Reads the output of `tune fleet status --json`.
    ///
    /// # Errors
    /// The text is not JSON of this form.
    pub fn parse(text: &str) -> Result<PlanStatus, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The number of tasks in this state.
    pub fn count(&self, state: TaskState) -> usize {
        self.tasks.iter().filter(|task| task.state == state).count()
    }
}

impl TaskStatus {
    /// Whether two sessions contradict each other: one session proved a config and another kept the baseline, or two
    /// sessions proved the same config with intervals that do not overlap.
    pub fn is_disputed(&self) -> bool {
        let decided: Vec<_> = self
            .sessions
            .iter()
            .filter(|s| s.config.is_some())
            .collect();
        let proven = decided.iter().any(|session| session.speedup.is_some());
        let kept = decided.iter().any(|session| session.speedup.is_none());
        let of_one_config = |a: &SessionStatus, b: &SessionStatus| a.config == b.config;
        let apart = |a: &SessionStatus, b: &SessionStatus| match (a.speedup, b.speedup) {
            (Some(a), Some(b)) => a.high_ppm < b.low_ppm,
            _ => false,
        };
        let mut pairs = decided
            .iter()
            .flat_map(|a| decided.iter().map(move |b| (a, b)));
        (proven && kept) || pairs.any(|(a, b)| of_one_config(a, b) && apart(a, b))
    }
}

impl SessionStatus {
    /// The name of the device in reports: its host and uuid.
    pub fn device(&self) -> String {
        let known = [self.host.as_deref(), self.uuid.as_deref()];
        let known: Vec<&str> = known.into_iter().flatten().collect();
        if known.is_empty() {
            return "a device without a name".to_owned();
        }
        known.join(" ")
    }
}

impl Speedup {
    /// The speed-up and the ends of its interval, as factors.
    pub fn factors(&self) -> (f64, [f64; 2]) {
        let factor = |ppm: u64| ppm as f64 / 1e6;
        (
            factor(self.ppm),
            [factor(self.low_ppm), factor(self.high_ppm)],
        )
    }
}

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TaskState::Proven => "proven",
            TaskState::NeedsReplica => "needs another device",
            TaskState::Searched => "needs a final",
            TaskState::Stopped => "stopped",
            TaskState::Kept => "baseline kept",
            TaskState::Missing => "missing",
        })
    }
}

/// Writes a speed-up as `2.00x (1.90x to 2.10x)`.
impl fmt::Display for Speedup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (speedup, [low, high]) = self.factors();
        write!(f, "{speedup:.2}x ({low:.2}x to {high:.2}x)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(config: Option<&str>, ends: Option<[u64; 2]>) -> SessionStatus {
        SessionStatus {
            host: Some("node1".into()),
            uuid: None,
            stage: "search".into(),
            element: 0,
            config: config.map(str::to_owned),
            speedup: ends.map(|[low_ppm, high_ppm]| Speedup {
                ppm: low_ppm,
                low_ppm,
                high_ppm,
            }),
        }
    }

    #[test]
    fn sessions_contradict_each_other_by_their_verdicts_or_their_intervals() {
        let disputed = |sessions: &[SessionStatus]| {
            let task = TaskStatus {
                kind: String::new(),
                kernel: String::new(),
                problem: String::new(),
                state: TaskState::Missing,
                config: None,
                why: None,
                devices: 0,
                speedup: None,
                unfinished_elements: Vec::new(),
                sessions: sessions.to_vec(),
            };
            task.is_disputed()
        };
        let proven = |config, ends| session(Some(config), Some(ends));
        let kept = session(Some("A=1"), None);
        let undecided = session(None, None);
        assert!(disputed(&[proven("A=2", [3, 4]), kept.clone()]));
        assert!(disputed(&[proven("A=2", [5, 6]), proven("A=2", [3, 4])]));
        for agreed in [
            vec![],
            vec![kept.clone(), kept],
            vec![proven("A=2", [3, 4]), undecided],
            vec![proven("A=2", [3, 5]), proven("A=2", [4, 6])],
            // Two sessions with different winners do not contradict each other, because a final decides between them.
            vec![proven("A=2", [3, 4]), proven("A=3", [5, 6])],
        ] {
            assert!(!disputed(&agreed), "{agreed:?}");
        }
    }
}
