//! The report of one task: a kernel and a problem.

use std::collections::BTreeMap;
use std::fmt::Write;

use kiln_cache::record::{Confirm, KeptReason, TaskEnded, TimeSpent, Verdict, printable};
use kiln_cache::{Outcome, Trial, Winner};
use kiln_spec::Hash;
use serde::Serialize;

use crate::task::Task;

/// The result for one kernel and one problem.
#[derive(Clone, Debug, Serialize)]
pub struct TaskReport {
    /// The name of the kernel.
    pub kernel: String,
    /// The package that declares the kernel.
    pub package: String,
    /// The kernel's name in listings. It includes the package if two packages have a kernel of this name.
    #[serde(skip)]
    pub label: String,
    /// The problem, as text.
    pub problem: String,
    /// The hash of the tuning key, under which results are stored.
    pub key: Hash,
    /// How far the search went.
    pub state: TaskState,
    /// Number of valid configs in the search space.
    pub space: u64,
    /// A description of the size of the whole space, if only a sample of it was enumerated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<String>,
    /// Number of configs that were tried, in this run and earlier runs.
    pub trials: u64,
    /// Number of trials per outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// For each kind of failure, the first config that failed this way, with the whole message.
    pub examples: BTreeMap<String, String>,
    /// Descriptions of the earlier results from which the search started.
    pub starts_from: Vec<String>,
    /// Why the check build of the baseline or the finalist could not run on the cpu device; `None` if it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<String>,
    /// What the check build of the baseline or the finalist remarked, which is not a fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// What the problem needs, if the time of the run was too short for its baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
    /// The decision, if there is one.
    pub winner: Option<Winner>,
    /// How this run's time for the task was spent.
    pub spent: TimeSpent,
}

/// How far the search of a task went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// The search and the decision were completed in this run.
    Searched,
    /// The search ran until its time ended. The results so far are reported, and the next run continues.
    Unfinished,
    /// The search was completed in this run, but some configs have no final outcome, for example because the compiler
    /// crashed. The next run tries them again.
    Open {
        /// Number of configs without a final outcome.
        configs: u64,
    },
    /// An earlier run decided the task, so nothing was compiled or launched.
    Known,
    /// The time of the run ended before the task began. The baseline is kept, and the next run continues.
    NotSearched,
    /// The task cannot be carried out, for example because the baseline does not work.
    Failed {
        /// Why the task failed.
        reason: String,
    },
}

impl TaskState {
    /// The state as text.
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
    /// Creates a report without results.
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
            remark: None,
            needs: None,
            winner: None,
            key: task.key.hash(),
            spent: TimeSpent::default(),
        }
    }

    /// The part of the report that the record of the run stores.
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

    /// Counts the outcome of a config, and keeps the first failure of each kind as an example.
    pub fn count(&mut self, trial: &Trial) {
        let name = trial.outcome.name();
        *self.outcomes.entry(name.to_owned()).or_default() += 1;
        if matches!(
            trial.outcome,
            Outcome::Measured(_) | Outcome::Rejected { .. }
        ) {
            return;
        }
        // The report prints the kind in front of the example, so the example contains only the rest of the text.
        let text = trial.outcome.to_string();
        let reason = text.strip_prefix(name).unwrap_or(&text);
        let reason = reason.strip_prefix(": ").unwrap_or(reason);
        let example = || match reason {
            "" => trial.config.clone(),
            reason => format!("{}: {reason}", trial.config),
        };
        self.examples.entry(name.to_owned()).or_insert_with(example);
    }

    /// The result in one line of text.
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
        if let Some(remark) = &self.remark {
            let _ = writeln!(text, "  note      {}", indented(remark));
        }
        match (&self.winner, &self.state) {
            (Some(winner), _) => write_winner(winner, text),
            (None, TaskState::Failed { reason }) => {
                let _ = writeln!(text, "  winner    none: {}", indented(reason));
            }
            (None, _) if self.trials > 0 => {
                text.push_str("  winner    baseline kept (not decided yet)\n");
            }
            (None, _) => text.push_str("  winner    baseline kept (not searched)\n"),
        }
        if let Some(needs) = &self.needs {
            let _ = writeln!(text, "  time      {needs}");
            text.push_str(
                "            help: run it with a larger `--budget`, or declare a smaller problem in `problems(..)`\n",
            );
        }
        text.push('\n');
    }

    fn state_note(&self) -> String {
        match self.state {
            TaskState::NotSearched if self.needs.is_some() => " (the budget is too small)".into(),
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

/// Indents all lines of a text except the first, so they align below the value of a label.
fn indented(text: &str) -> String {
    text.trim_end().replace('\n', "\n            ")
}

/// Why the baseline was kept and, for an unfinished confirmation, its results so far.
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
