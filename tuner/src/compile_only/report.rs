//! The result of `tune run --compile-only`: a table for people, and JSON for programs.

use std::collections::BTreeMap;
use std::fmt::Write;

use kiln_cache::Outcome;
use kiln_spec::space::SearchSpace;
use serde::Serialize;

use crate::task::Task;

/// The result of checking all tasks for one target.
#[derive(Clone, Debug, Serialize)]
pub struct CheckReport {
    /// The architecture of the target.
    pub target: &'static str,
    /// The heading of the target: its architecture, its product and its compiler.
    pub title: String,
    /// One result per kernel and problem.
    pub tasks: Vec<TaskCheck>,
    /// Number of candidates that were compiled now. The others were in the artifact cache.
    pub compiles: u64,
    /// Duration in milliseconds.
    pub elapsed_ms: u64,
}

/// The result of checking the search space of one kernel and problem.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TaskCheck {
    /// The package that declares the kernel.
    pub package: String,
    /// The name of the kernel.
    pub kernel: String,
    /// The problem, as text.
    pub problem: String,
    /// Number of configs before any constraint, as text.
    pub product: String,
    /// Number of configs that satisfy the constraints and the launch limits. If only a sample of the space was
    /// enumerated, the number of such configs in the sample.
    pub valid: u64,
    /// A description of the size of the whole space, if only a sample of it was enumerated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<String>,
    /// The number of configs that each rule (a constraint or a launch limit) excludes.
    pub cut: Vec<Cut>,
    /// Number of valid configs that were checked.
    pub checked: u64,
    /// Number of configs that were not checked because the time budget ended.
    pub out_of_time: u64,
    /// Number of checked configs that compile and can be launched.
    pub launchable: u64,
    /// Number of launchable configs that spill registers.
    pub spilling: u64,
    /// Number of checked configs that cannot be launched, by reason.
    pub excluded: BTreeMap<String, u64>,
    /// One example message per reason.
    pub examples: BTreeMap<String, String>,
    /// Number of excluded configs without a final verdict, for example because the compiler crashed. The next check
    /// tries them again.
    pub open: u64,
    /// Why the baseline cannot be launched; `None` if it can.
    pub baseline: Option<String>,
    /// Why no config could be checked; `None` if configs were checked.
    pub error: Option<String>,
}

/// The number of configs that one rule excludes.
#[derive(Clone, Debug, Serialize)]
pub struct Cut {
    /// The constraint as written in the spec, or a description of the limit.
    pub rule: String,
    /// The number of configs that the rule excludes, as text; `?` if it is not known.
    pub configs: String,
}

impl TaskCheck {
    pub(super) fn new(task: &Task<'_>) -> TaskCheck {
        TaskCheck {
            package: task.kernel.package.clone(),
            kernel: task.kernel.spec.name.clone(),
            problem: task.problem.to_string(),
            ..TaskCheck::default()
        }
    }

    pub(super) fn count_space(&mut self, space: &SearchSpace) {
        self.product = space.product_len().to_string();
        self.valid = space.len() as u64;
        self.sampled = space.sampled().map(|sampled| sampled.to_string());
        let cuts = space.rejections().iter().filter(|cut| !cut.cuts_nothing());
        self.cut = cuts
            .map(|cut| Cut {
                rule: cut.text.clone(),
                configs: cut
                    .configs
                    .map_or("?".into(), |configs| configs.to_string()),
            })
            .collect();
    }

    pub(super) fn count_launchable(&mut self, spills: bool) {
        self.checked += 1;
        self.launchable += 1;
        self.spilling += u64::from(spills);
    }

    pub(super) fn count_excluded(&mut self, outcome: &Outcome, attempt: u32) {
        self.checked += 1;
        self.open += u64::from(!outcome.stands(attempt));
        let (reason, text) = reason(outcome);
        *self.excluded.entry(reason.clone()).or_default() += 1;
        self.examples.entry(reason).or_insert(text);
    }

    /// The number of checked configs that cannot be launched.
    pub fn cannot(&self) -> u64 {
        self.excluded.values().sum()
    }

    /// Whether the check failed: no config could be checked, the baseline cannot be launched, no checked config can be
    /// launched, or a config has no final verdict.
    pub fn failed(&self) -> bool {
        let none_can = self.checked > 0 && self.launchable == 0;
        self.baseline.is_some() || self.error.is_some() || none_can || self.open > 0
    }

    /// The result in one line of text.
    pub fn one_line(&self) -> String {
        let what = match &self.error {
            Some(error) => error.clone(),
            None if self.out_of_time > 0 => format!(
                "{} of {} can be launched, {} not checked: the time was up",
                self.launchable, self.checked, self.out_of_time
            ),
            None => format!("{} of {} can be launched", self.launchable, self.checked),
        };
        format!("{} ({}): {what}", self.kernel, self.problem)
    }

    fn write(&self, text: &mut String) {
        let _ = writeln!(text, "{}  {}", self.kernel, self.problem);
        if let Some(error) = &self.error {
            let _ = writeln!(text, "  nothing to check: {error}\n");
            return;
        }
        let _ = writeln!(
            text,
            "  {} configs, {} within constraints and limits, {} checked",
            self.product, self.valid, self.checked
        );
        if let Some(sampled) = &self.sampled {
            let _ = writeln!(text, "  {sampled}");
        }
        for cut in &self.cut {
            let _ = writeln!(text, "  {:>12} cut by {}", cut.configs, cut.rule);
        }
        let _ = writeln!(
            text,
            "  {:>12} can be launched ({} spill registers)",
            self.launchable, self.spilling
        );
        if self.out_of_time > 0 {
            let _ = writeln!(
                text,
                "  {:>12} not checked: the time was up; give more time with `--budget`, or omit it to check all \
                 configs",
                self.out_of_time
            );
        }
        for (reason, count) in &self.excluded {
            let example = self.examples.get(reason).map_or("", String::as_str);
            let _ = writeln!(
                text,
                "  {count:>12} cannot: {reason}, for example {example}"
            );
        }
        if self.open > 0 {
            let _ = writeln!(
                text,
                "  {:>12} came to no verdict: run the check again",
                self.open
            );
        }
        if let Some(why) = &self.baseline {
            let _ = writeln!(text, "  the baseline cannot be launched: {why}");
        }
        text.push('\n');
    }
}

/// The kind of an outcome, by which configs are counted, and its message.
fn reason(outcome: &Outcome) -> (String, String) {
    match outcome {
        Outcome::Rejected { constraint } => match constraint.split_once(": ") {
            Some((kind, detail)) => (kind.into(), detail.into()),
            None => (outcome.name().into(), constraint.clone()),
        },
        Outcome::CompileFailed { first_line, .. } => (outcome.name().into(), first_line.clone()),
        other => (other.name().into(), other.to_string()),
    }
}

impl CheckReport {
    /// Whether the check of any task failed.
    pub fn any_failed(&self) -> bool {
        self.tasks.iter().any(TaskCheck::failed)
    }

    /// The report as text.
    pub fn to_text(&self) -> String {
        let mut text = format!("target {}\n\n", self.title);
        for task in &self.tasks {
            task.write(&mut text);
        }
        let seconds = self.elapsed_ms as f64 / 1e3;
        let _ = writeln!(
            text,
            "{} compiles, no launches, {seconds:.1} s",
            self.compiles
        );
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_that_ran_out_of_time_says_so() {
        let check = TaskCheck {
            package: "kiln-kernels".into(),
            kernel: "gemm".into(),
            problem: "n=8".into(),
            valid: 12,
            out_of_time: 12,
            ..TaskCheck::default()
        };
        assert_eq!(
            check.one_line(),
            "gemm (n=8): 0 of 0 can be launched, 12 not checked: the time was up"
        );
        let mut text = String::new();
        check.write(&mut text);
        assert!(
            text.contains(
                "          12 not checked: the time was up; give more time with `--budget`, or omit it to check all configs\n"
            ),
            "{text}"
        );
    }
}
