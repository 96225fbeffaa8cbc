//! The totals of a run: the number of problems with a proven config and the mean of their speed-ups, the number of
//! problems that kept the baseline, and the number of problems without a decision.

use std::fmt;

use kiln_cache::record::Verdict;
use serde::Serialize;

use super::task::{TaskReport, TaskState};

/// The number of problems of a run for each result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RunTotals {
    /// Number of all problems.
    pub problems: usize,
    /// Number of problems with a config that is proven faster than the baseline.
    pub proven: usize,
    /// Geometric mean of the proven speed-ups; `None` if nothing is proven.
    pub proven_mean: Option<f64>,
    /// Number of problems whose baseline was kept, because no other config is valid or none was proven faster.
    pub baseline_kept: usize,
    /// Geometric mean of the speed-ups of all decided problems, in which a kept baseline counts as 1; `None` if no
    /// problem is decided.
    pub decided_mean: Option<f64>,
    /// Number of problems that were searched without a decision.
    pub undecided: usize,
    /// Number of problems for which no time was left.
    pub not_searched: usize,
    /// Number of problems that failed, for example because the baseline does not work.
    pub failed: usize,
}

impl RunTotals {
    /// Counts the results of some tasks.
    pub fn of<'a>(tasks: impl IntoIterator<Item = &'a TaskReport>) -> RunTotals {
        let mut totals = RunTotals::default();
        let mut logs = 0.0;
        for task in tasks {
            totals.problems += 1;
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

impl fmt::Display for RunTotals {
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
