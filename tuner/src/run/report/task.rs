//! The result for one kernel and problem.

use std::collections::BTreeMap;
use std::fmt::Write;

use kiln_cache::record::{Confirm, KeptReason, TaskEnded, TimeSpent, Verdict, printable};
use kiln_cache::{Outcome, Trial, Winner};
use kiln_spec::Hash;
use serde::Serialize;

use crate::task::Task;

/// The result for one kernel and problem.
#[derive(Clone, Debug, Serialize)]
pub struct TaskReport {
    /// The kernel.
    pub kernel: String,
    /// The package that declares it.
    pub package: String,
    /// The kernel in listings: with its package if two packages have a kernel of this name.
    #[serde(skip)]
    pub label: String,
    /// The problem.
    pub problem: String,
    /// Hash of the tuning key.
    pub key: Hash,
    /// How far the search went.
    pub state: TaskState,
    /// Valid configs in the search space.
    pub space: u64,
    /// The size of the whole space in words, if the configs are a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<String>,
    /// Number of configs tried, in this and earlier runs.
    pub trials: u64,
    /// Number of trials per outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// For each kind of failure, the first config with it and its whole message.
    pub examples: BTreeMap<String, String>,
    /// Earlier results of the kernel that the search started from.
    pub starts_from: Vec<String>,
    /// Why the check build of the baseline or the finalist could not run on the cpu device, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<String>,
    /// The decision, if there is one.
    pub winner: Option<Winner>,
    /// How this run's time for it was spent.
    pub spent: TimeSpent,
}

/// How far a search went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// Searched completely and decided in this run.
    Searched,
    /// Searched in this run until its time was up. The results so far are reported, and the next run continues.
    Unfinished,
    /// Searched completely in this run, but a compiler came to no verdict on some configs; the next run tries them
    /// again.
    Open {
        /// Number of such configs.
        configs: u64,
    },
    /// Decided by an earlier run; nothing was compiled or launched.
    Known,
    /// Time ran out before it. The baseline is kept, and the next run continues.
    NotSearched,
    /// The baseline itself does not work, so nothing can be compared.
    Failed {
        /// The reason.
        reason: String,
    },
}

impl TaskState {
    /// The state in words.
    pub fn text(&self) -> String {
        match self {
            TaskState::Searched => "searched to its end".into(),
            TaskState::Unfinished => "its time was up; the next run goes on".into(),
            TaskState::Open { configs } => {
                format!("{configs} configs came to no verdict; the next run tries them again")
            }
            TaskState::Known => "decided by an earlier run".into(),
            TaskState::NotSearched => "not searched: no time left".into(),
            TaskState::Failed { reason } => format!("failed: {}", reason.replace('\n', "; ")),
        }
    }
}

impl TaskReport {
    /// An empty report.
    pub fn new(task: &Task<'_>, state: TaskState) -> TaskReport {
        TaskReport {
            kernel: task.kernel.spec.name.clone(),
            package: task.kernel.package.clone(),
            label: task.kernel.label.clone(),
            problem: task.problem.to_string(),
            state,
            space: 0,
            sampled: None,
            trials: 0,
            outcomes: BTreeMap::new(),
            examples: BTreeMap::new(),
            starts_from: Vec::new(),
            unchecked: None,
            winner: None,
            key: task.key.hash(),
            spent: TimeSpent::default(),
        }
    }

    /// The part that the record of the run stores.
    pub fn ended(&self) -> TaskEnded {
        TaskEnded {
            kernel: self.kernel.clone(),
            problem: self.problem.clone(),
            key: self.key,
            state: printable(&self.state.text()),
            space: self.space,
            winner: self.winner.clone(),
            spent: self.spent,
        }
    }

    /// Counts the outcome of a config.
    pub fn count(&mut self, trial: &Trial) {
        let name = trial.outcome.name();
        *self.outcomes.entry(name.to_owned()).or_default() += 1;
        if matches!(
            trial.outcome,
            Outcome::Measured(_) | Outcome::Rejected { .. }
        ) {
            return;
        }
        // The kind is printed once; the rest of the text is the reason.
        let text = trial.outcome.to_string();
        let reason = text.strip_prefix(name).unwrap_or(&text);
        let reason = reason.strip_prefix(": ").unwrap_or(reason);
        let example = || match reason {
            "" => trial.config.clone(),
            reason => format!("{}: {reason}", trial.config),
        };
        self.examples.entry(name.to_owned()).or_insert_with(example);
    }

    /// The result in one line.
    pub fn one_line(&self) -> String {
        let what = match (&self.winner, &self.state) {
            (_, TaskState::Failed { reason }) => reason.clone(),
            (_, TaskState::NotSearched) => "not searched, baseline kept".into(),
            (Some(winner), _) => match winner.verdict {
                Verdict::Proven { speedup_ppm, .. } => {
                    format!(
                        "proven {:.2}x with {}",
                        speedup_ppm as f64 / 1e6,
                        winner.config
                    )
                }
                Verdict::BaselineKept { reason } => kept(reason, winner.confirm),
            },
            (None, _) => "baseline kept".into(),
        };
        format!("{} ({}): {what}", self.label, self.problem)
    }

    pub(super) fn write(&self, text: &mut String) {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}  {}", self.label, self.problem);
        let _ = writeln!(
            text,
            "  trials    {} of {} configs{}",
            self.trials,
            self.space,
            self.state_note()
        );
        if let Some(sampled) = &self.sampled {
            let _ = writeln!(text, "  space     {sampled}");
        }
        if !self.outcomes.is_empty() {
            let outcomes: Vec<_> = self
                .outcomes
                .iter()
                .map(|(name, count)| format!("{name} {count}"))
                .collect();
            let _ = writeln!(text, "  outcomes  {}", outcomes.join(", "));
        }
        if !self.starts_from.is_empty() {
            let _ = writeln!(
                text,
                "  start     from results of {}",
                self.starts_from.join("; ")
            );
        }
        for (name, example) in &self.examples {
            let example = indented(example);
            let _ = writeln!(text, "            {name}, for example {example}");
        }
        if let Some(why) = &self.unchecked {
            let _ = writeln!(text, "  check     not checked on cpu: {}", indented(why));
        }
        match (&self.winner, &self.state) {
            (Some(winner), _) => write_winner(winner, text),
            (None, TaskState::Failed { reason }) => {
                let _ = writeln!(text, "  winner    none: {}", indented(reason));
            }
            (None, _) => text.push_str("  winner    baseline kept (not searched)\n"),
        }
        text.push('\n');
    }

    fn state_note(&self) -> String {
        match self.state {
            TaskState::Searched => "".into(),
            TaskState::Unfinished => " (its time was up; the next run goes on)".into(),
            TaskState::Open { configs } => {
                format!(" ({configs} came to no verdict; the next run tries them again)")
            }
            TaskState::Known => " (decided by an earlier run)".into(),
            TaskState::NotSearched => " (no time left; the next run goes on)".into(),
            TaskState::Failed { .. } => " (failed)".into(),
        }
    }
}

/// A text of several lines, indented below a label.
fn indented(text: &str) -> String {
    text.trim_end().replace('\n', "\n            ")
}

/// Why the baseline was kept, and how far an unfinished confirmation got.
fn kept(reason: KeptReason, confirm: Option<Confirm>) -> String {
    let so_far = confirm.filter(|_| reason == KeptReason::Inconclusive);
    let so_far = so_far.map(|confirm| {
        let speedup = (-(confirm.median_log_ratio_ppm as f64) / 1e6).exp();
        let Confirm {
            wins, processes, ..
        } = confirm;
        format!(": {speedup:.2}x so far, faster in {wins} of {processes} processes")
    });
    format!("baseline kept: {reason}{}", so_far.unwrap_or_default())
}

fn write_winner(winner: &Winner, text: &mut String) {
    match winner.verdict {
        Verdict::Proven {
            speedup_ppm,
            low_ppm,
            high_ppm,
        } => {
            let _ = writeln!(text, "  winner    {}", winner.config);
            let [speedup, low, high] = [speedup_ppm, low_ppm, high_ppm].map(|ppm| ppm as f64 / 1e6);
            let _ = writeln!(
                text,
                "  proven    {speedup:.2}x the baseline [{low:.2}, {high:.2}] in {} fresh processes, {}",
                winner.confirm.map_or(0, |confirm| confirm.processes),
                winner.plan
            );
        }
        Verdict::BaselineKept { reason } => {
            let _ = writeln!(text, "  winner    {}", kept(reason, winner.confirm));
        }
    }
    let _ = writeln!(text, "  outputs   {}", winner.grade.in_words());
}
