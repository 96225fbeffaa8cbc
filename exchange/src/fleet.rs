//! The state of a fleet's plan, as `tune fleet status --json` prints it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How far a plan is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanStatus {
    /// The plan's identity.
    pub plan: String,
    /// Who signed it and the plans that it continues, by the name in `allowed_signers`; `None` if that was not checked.
    #[serde(default)]
    pub signed_by: Option<String>,
    /// Number of its elements.
    pub elements: usize,
    /// Numbers of those that an attempt has finished.
    pub finished: Vec<u32>,
    /// Devices that have to prove a row.
    pub replicas: u32,
    /// Number of attempts that published.
    pub journals: usize,
    /// Number of published records.
    pub records: usize,
    /// A hash of all of them: equal for equal contents of stores.
    pub root: String,
    /// Every kernel and problem on every kind of device.
    pub tasks: Vec<TaskStatus>,
    /// What is wrong with the store.
    pub complaints: Vec<String>,
}

/// A kernel and problem on one kind of device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskStatus {
    /// The plan's name of the kind.
    pub kind: String,
    /// The kernel.
    pub kernel: String,
    /// The problem.
    pub problem: String,
    /// What is decided.
    pub state: TaskState,
    /// The config that is proven, or waits for another device.
    pub config: Option<String>,
    /// Why it is stopped.
    pub why: Option<String>,
    /// Number of distinct devices that have proven it.
    pub devices: usize,
    /// The least favourable of their speed-ups, if it is proven.
    pub speedup: Option<Speedup>,
    /// Numbers of the elements that have this task and are not finished.
    pub unfinished_elements: Vec<u32>,
    /// What each session decided.
    pub sessions: Vec<SessionStatus>,
}

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// Enough devices have proven a config.
    Proven,
    /// Another device has to prove it.
    NeedsReplica,
    /// Searches have different winners: one session has to decide.
    Searched,
    /// A confirmation did not prove the config: the baseline stays.
    Stopped,
    /// Every session kept the baseline.
    Kept,
    /// Nobody has finished it.
    Missing,
}

/// What a session decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionStatus {
    /// The device's host.
    pub host: Option<String>,
    /// The device's uuid.
    pub uuid: Option<String>,
    /// `search`, `final` or `replicate`.
    pub stage: String,
    /// Number of its element.
    pub element: u32,
    /// Its config; `None` if it decided nothing.
    pub config: Option<String>,
    /// Its speed-up; `None` if it kept the baseline.
    pub speedup: Option<Speedup>,
}

/// How many times as fast as the baseline a config is, in millionths, and the ends of the 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Speedup {
    /// The speed-up.
    pub ppm: u64,
    /// The low end.
    pub low_ppm: u64,
    /// The high end.
    pub high_ppm: u64,
}

impl PlanStatus {
    /// Reads what `tune fleet status --json` printed.
    ///
    /// # Errors
    /// If it is not JSON of that form.
    pub fn parse(text: &str) -> Result<PlanStatus, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The number of tasks in a state.
    pub fn count(&self, state: TaskState) -> usize {
        self.tasks.iter().filter(|task| task.state == state).count()
    }
}

impl TaskStatus {
    /// Whether two sessions contradict each other: one proved a config and another kept the baseline, or their
    /// intervals for one config have nothing in common.
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
    /// The device, as a page names it.
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

/// `2.00x (1.90x to 2.10x)`.
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
            // Two winners: a final decides between them.
            vec![proven("A=2", [3, 4]), proven("A=3", [5, 6])],
        ] {
            assert!(!disputed(&agreed), "{agreed:?}");
        }
    }
}
