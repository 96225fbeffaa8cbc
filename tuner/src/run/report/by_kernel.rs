//! The report of a run with many problems, with one line per kernel.

use kiln_cache::record::Verdict;

use super::RunTotals;
use super::task::{TaskReport, TaskState};
use crate::columns::columns;

/// Formats a table with one line per kernel: the number of problems per result and, for the proven problems, the
/// geometric mean of the speed-ups and the range that their confidence intervals span. Failed tasks follow, with the
/// reasons.
pub(super) fn table(tasks: &[TaskReport]) -> String {
    let mut kernels: Vec<(&str, Vec<&TaskReport>)> = Vec::new();
    for task in tasks {
        match kernels.iter_mut().find(|(label, _)| *label == task.label) {
            Some((_, own)) => own.push(task),
            None => kernels.push((&task.label, vec![task])),
        }
    }
    kernels.sort_by_key(|(label, _)| *label);
    let head = [
        "kernel", "proven", "kept", "open", "failed", "speed-up", "from", "to",
    ];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    lines.extend(kernels.iter().map(|(label, tasks)| line(label, tasks)));
    columns(&lines) + &failures(tasks)
}

fn line(label: &str, tasks: &[&TaskReport]) -> Vec<String> {
    let totals = RunTotals::of(tasks.iter().copied());
    let count = |count: usize| match count {
        0 => "-".to_owned(),
        count => count.to_string(),
    };
    let factor = |factor: Option<f64>| factor.map_or("-".to_owned(), |x| format!("{x:.2}x"));
    let (low, high) = ends(tasks).unzip();
    vec![
        label.to_owned(),
        count(totals.proven),
        count(totals.baseline_kept),
        count(totals.undecided + totals.not_searched),
        count(totals.failed),
        factor(totals.proven_mean),
        factor(low),
        factor(high),
    ]
}

/// The lowest and the highest end of the confidence intervals of all proven speed-ups; `None` if nothing is proven.
fn ends(tasks: &[&TaskReport]) -> Option<(f64, f64)> {
    let verdicts = tasks.iter().filter_map(|task| task.winner.as_ref());
    let intervals = verdicts.filter_map(|winner| match winner.verdict {
        Verdict::Proven {
            low_ppm, high_ppm, ..
        } => Some((low_ppm as f64 / 1e6, high_ppm as f64 / 1e6)),
        Verdict::BaselineKept { .. } => None,
    });
    intervals.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
}

/// One line per failed task with the reason, for example why its baseline does not work.
fn failures(tasks: &[TaskReport]) -> String {
    let reasons = tasks.iter().filter_map(|task| match &task.state {
        TaskState::Failed { reason } => Some((&task.label, &task.problem, reason)),
        _ => None,
    });
    reasons
        .map(|(label, problem, reason)| format!("{label} ({problem}): {reason}\n"))
        .collect()
}
