//! The turns of a run: which task is tuned next, and for how long.

use std::time::Duration;

use kiln_cache::record::Verdict;

use crate::error::Failure;
use crate::run::agenda::{Agenda, MAX_TURNS, TaskStanding};
use crate::run::budget::{Budget, Share};
use crate::run::context::RunContext;
use crate::run::report::{TaskReport, TaskState};
use crate::run::tuning;
use crate::task::Task;
use kiln_measure::wealth::FAR;

/// The number of claims (statements that a config is faster than the baseline) that a run of this many tasks may make.
pub fn claims_of(tasks: usize) -> u32 {
    u32::try_from(tasks * MAX_TURNS).unwrap_or(u32::MAX)
}

/// Tunes the tasks one after another, in the order of the [`Agenda`]. Returns the reports and the number of timed
/// launches.
pub fn take_all(
    context: &RunContext<'_>,
    tasks: &[Task<'_>],
    budget: &Budget,
) -> Result<(Vec<TaskReport>, u64), Failure> {
    let mut launches = 0;
    let mut reports: Vec<Option<TaskReport>> = tasks.iter().map(|_| None).collect();
    let kernels = tasks.iter().map(|task| task.kernel.label.clone());
    let mut agenda = Agenda::new(kernels.collect());
    let mut preparations_ns = Vec::new();
    while let Some(turn) = agenda.next_turn() {
        if turn.again && !budget.is_worth_a_turn(turn, tasks.len()) {
            continue;
        }
        let share = Share {
            budget,
            turn,
            preparation: mean(&preparations_ns),
        };
        let (mut report, launched) = one(context, &tasks[turn.task], share)?;
        if report.state != TaskState::NotSearched {
            context.reporter.task_finished(&report.one_line());
        }
        launches += launched;
        if report.spent.elapsed_ns > 0 {
            preparations_ns.push(report.spent.other_ns());
        }
        if let Some(earlier) = &reports[turn.task] {
            report.spent += earlier.spent;
        }
        agenda.note(turn.task, standing(&report));
        reports[turn.task] = Some(report);
    }
    Ok((reports.into_iter().flatten().collect(), launches))
}

/// The mean of some times in nanoseconds; zero if there are none.
fn mean(times_ns: &[u64]) -> Duration {
    let count = u64::try_from(times_ns.len()).unwrap_or(u64::MAX).max(1);
    Duration::from_nanos(times_ns.iter().sum::<u64>() / count)
}

/// The state of a task after a turn, from which the agenda chooses the next turn.
fn standing(report: &TaskReport) -> TaskStanding {
    let verdict = report.winner.as_ref().map(|winner| &winner.verdict);
    let speedup_ppm = match verdict {
        Some(Verdict::Proven { speedup_ppm, .. }) => Some(*speedup_ppm),
        _ => None,
    };
    let large = speedup_ppm.is_some_and(|ppm| ppm as f64 > 1e6 * (1.0 + FAR));
    match report.state {
        TaskState::NotSearched => TaskStanding::NotBegun,
        TaskState::Unfinished if speedup_ppm.is_some() => TaskStanding::Proven { large },
        TaskState::Unfinished => TaskStanding::Undecided,
        _ => TaskStanding::Done { large },
    }
}

/// Handles one turn of a task. The task is tuned, unless an earlier run decided it or no time remains.
fn one(
    context: &RunContext<'_>,
    task: &Task<'_>,
    share: Share<'_>,
) -> Result<(TaskReport, u64), Failure> {
    let key = task.key.hash();
    let winner = context.cache.winner(key)?;
    // A decision is made again if its outputs were verified with weaker evidence than this run has, or with a reference
    // that computed something else.
    let grade = context.grade(task);
    // The search continues if it was limited to fewer configs than this run may try.
    let most = context.options.most_trials(task);
    let state = match (&winner, context.cache.search_done(key)?) {
        (Some(winner), Some(done))
            if winner.grade.is_as_strong_as(grade)
                && done.grade.is_as_strong_as(grade)
                && (context.reference(task)).is_ok_and(|now| done.stands_for(now))
                && done.covers(most.map(|most| most as u64)) =>
        {
            TaskState::Known
        }
        _ if share.budget.is_spent() => TaskState::NotSearched,
        _ => {
            return tuning::tune(context, share.turn.number, task, share);
        }
    };
    let mut report = TaskReport::new(task, state);
    report.winner = winner;
    tuning::count(context.cache, context.info, task, &mut report)?;
    Ok((report, 0))
}
