//! A run in one line: how many problems were proven faster, and by how much, and how many kept their baselines.

use std::fmt;

use kiln_cache::record::Verdict;
use serde::Serialize;

use super::task::{TaskReport, TaskState};

/// Kernels and problems of a run, by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Totals {
    /// All of them.
    pub problems: usize,
    /// Those with a config that is proven faster than the baseline.
    pub proven: usize,
    /// Geometric mean of the proven speed-ups; `None` where nothing is proven.
    pub proven_mean: Option<f64>,
    /// Those whose baseline was kept because nothing else is valid, or nothing was proven faster.
    pub baseline_kept: usize,
    /// Geometric mean over the proven and the kept, which count as 1; `None` where nothing is decided.
    pub decided_mean: Option<f64>,
    /// Those that were searched, but not to a decision.
    pub undecided: usize,
    /// Those that there was no time for.
    pub not_searched: usize,
    /// Those without a working baseline.
    pub failed: usize,
}

impl Totals {
    /// Counts what became of these.
    pub fn of(tasks: &[TaskReport]) -> Totals {
        let mut totals = Totals {
            problems: tasks.len(),
            ..Totals::default()
        };
        let mut logs = 0.0;
        for task in tasks {
            let verdict = task.winner.as_ref().map(|winner| &winner.verdict);
            match (&task.state, verdict) {
                (TaskState::Failed { .. }, _) => totals.failed += 1,
                (_, Some(Verdict::Proven { speedup_ppm, .. })) => {
                    totals.proven += 1;
                    logs += (*speedup_ppm as f64 / 1e6).ln();
                }
                (TaskState::NotSearched, _) => totals.not_searched += 1,
                (TaskState::Searched | TaskState::Known, Some(_)) => totals.baseline_kept += 1,
                _ => totals.undecided += 1,
            }
        }
        let mean = |of: usize| (of > 0).then(|| (logs / of as f64).exp());
        totals.proven_mean = mean(totals.proven);
        totals.decided_mean = mean(totals.proven + totals.baseline_kept);
        totals
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} problems: {} proven faster",
            self.problems, self.proven
        )?;
        if let Some(mean) = self.proven_mean {
            write!(f, ", {mean:.2}x in the geometric mean")?;
        }
        let others = [
            (self.baseline_kept, "kept the baseline"),
            (self.undecided, "undecided"),
            (self.not_searched, "not searched"),
            (self.failed, "failed"),
        ];
        for (count, what) in others.into_iter().filter(|(count, _)| *count > 0) {
            write!(f, "; {count} {what}")?;
        }
        match self.decided_mean.filter(|_| self.baseline_kept > 0) {
            Some(mean) => write!(f, " (with those kept as 1.00x: {mean:.2}x)"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use kiln_cache::Winner;
    use kiln_cache::record::{Baseline, KeptReason, ReferenceGrade, TimeSpent};
    use kiln_spec::{Hash, LaunchPlan};

    use super::*;

    fn task(state: TaskState, verdict: Option<Verdict>) -> TaskReport {
        let (kernel, problem) = ("gelu".to_owned(), "n=1".to_owned());
        let key = Hash::of("key", b"");
        let plan = LaunchPlan {
            grid: [1; 3],
            block: [1; 3],
            shared_bytes: 0,
        };
        let winner = verdict.map(|verdict| Winner {
            kernel: kernel.clone(),
            problem: problem.clone(),
            device: "cpu/x86-64-v3/x".parse().unwrap(),
            key,
            config: String::new(),
            baseline: Baseline::Entry {
                entry: "plain".into(),
            },
            verdict,
            confirm: None,
            receipt: key,
            plan,
            symbol: String::new(),
            grade: ReferenceGrade::Reference,
        });
        TaskReport {
            package: "shop".into(),
            label: kernel.clone(),
            kernel,
            problem,
            key,
            state,
            space: 1,
            sampled: None,
            trials: 0,
            outcomes: BTreeMap::new(),
            examples: BTreeMap::new(),
            starts_from: Vec::new(),
            unchecked: None,
            winner,
            spent: TimeSpent::default(),
        }
    }

    fn proven(speedup_ppm: u64) -> Option<Verdict> {
        Some(Verdict::Proven {
            speedup_ppm,
            low_ppm: speedup_ppm,
            high_ppm: speedup_ppm,
        })
    }

    fn kept(reason: KeptReason) -> Option<Verdict> {
        Some(Verdict::BaselineKept { reason })
    }

    #[test]
    fn every_problem_is_counted_once_and_means_are_geometric() {
        let failed = TaskState::Failed {
            reason: "it does not compile".into(),
        };
        let tasks = [
            task(TaskState::Searched, proven(2_000_000)),
            // A proof stands, also where a later search ran out of time or was not begun.
            task(TaskState::Unfinished, proven(8_000_000)),
            task(TaskState::Known, kept(KeptReason::NothingFaster)),
            task(TaskState::Searched, kept(KeptReason::NotProven)),
            task(TaskState::Unfinished, kept(KeptReason::NotProven)),
            task(TaskState::Unfinished, kept(KeptReason::Inconclusive)),
            task(TaskState::NotSearched, None),
            task(failed, None),
        ];
        let said = "8 problems: 2 proven faster, 4.00x in the geometric mean; 2 kept the baseline; 2 undecided; \
                    1 not searched; 1 failed (with those kept as 1.00x: 2.00x)";
        assert_eq!(Totals::of(&tasks).to_string(), said);
    }

    #[test]
    fn nothing_proven_has_no_mean() {
        let totals = Totals::of(&[task(TaskState::NotSearched, None)]);
        assert_eq!((totals.proven_mean, totals.decided_mean), (None, None));
        assert_eq!(
            totals.to_string(),
            "1 problems: 0 proven faster; 1 not searched"
        );
    }
}
