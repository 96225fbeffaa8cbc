//! The chart of the speed-ups of all problems: first the proven ones, then those that keep their baseline, then those
//! that are still undecided.

use kiln_cache::record::{KeptReason, Verdict};
use maud::Markup;

use super::evidence::times;
use super::figures::TaskFigures;
use super::intervals::{self, IntervalRow};

/// The state of a problem. The chart sorts by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ProblemState {
    /// A config is proven faster than the baseline.
    Proven,
    /// The search decided to keep the baseline.
    Kept,
    /// Nothing is decided yet. More time may lead to a proof.
    Open,
}

/// A problem in the chart.
struct SpeedupRow<'a> {
    task: &'a TaskFigures,
    /// The number of the task's section on the page.
    number: usize,
    standing: ProblemState,
    /// The speed-up over the baseline: the proven one, or that of the race if the problem is undecided.
    speedup: f64,
    /// The 95 % interval of a proven speed-up.
    interval: Option<[f64; 2]>,
}

impl ProblemState {
    /// The state of a task's problem.
    pub(super) fn of(task: &TaskFigures) -> ProblemState {
        match task.evidence.winner.as_ref().map(|winner| winner.verdict) {
            Some(Verdict::Proven { .. }) => ProblemState::Proven,
            Some(Verdict::BaselineKept {
                reason: KeptReason::Inconclusive,
            })
            | None => ProblemState::Open,
            Some(Verdict::BaselineKept { .. }) => ProblemState::Kept,
        }
    }

    fn class(self) -> &'static str {
        match self {
            ProblemState::Proven => "s-proven",
            ProblemState::Kept => "s-kept",
            ProblemState::Open => "s-open",
        }
    }
}

impl SpeedupRow<'_> {
    fn new(task: &TaskFigures, number: usize) -> SpeedupRow<'_> {
        let standing = ProblemState::of(task);
        let (speedup, interval) = match task.evidence.winner.as_ref().map(|winner| winner.verdict) {
            Some(Verdict::Proven {
                speedup_ppm,
                low_ppm,
                high_ppm,
            }) => (times(speedup_ppm), Some([times(low_ppm), times(high_ppm)])),
            _ if standing == ProblemState::Open => (in_race(task).unwrap_or(1.0), None),
            _ => (1.0, None),
        };
        SpeedupRow {
            task,
            number,
            standing,
            speedup,
            interval,
        }
    }

    fn drawn(&self) -> IntervalRow {
        let name = self.task.name();
        IntervalRow {
            link: Some(format!("#task-{}", self.number)),
            class: self.standing.class(),
            speedup: self.speedup,
            interval: self.interval,
            says: self.says(),
            title: format!("{name}: {}", self.task.evidence.headline()),
            name,
        }
    }

    /// The text to the right of the row.
    fn says(&self) -> String {
        match self.standing {
            ProblemState::Proven => format!("{:.2}×", self.speedup),
            ProblemState::Kept => "baseline".to_owned(),
            ProblemState::Open if self.speedup > 1.0 => {
                format!("open, {:.2}× in the race", self.speedup)
            }
            ProblemState::Open => "open".to_owned(),
        }
    }
}

/// The speed-up of the best config in the race. A race ranks configs but proves nothing.
fn in_race(task: &TaskFigures) -> Option<f64> {
    let ratio = task.best.first()?.ratio_ppm.filter(|&ratio| ratio > 0)?;
    Some(1.0 / times(ratio))
}

/// Draws one row per problem that was searched, sorted by state and then by speed-up, the fastest first.
pub(super) fn draw(tasks: &[TaskFigures]) -> Markup {
    let mut rows: Vec<SpeedupRow<'_>> = tasks
        .iter()
        .zip(1..)
        .filter(|(task, _)| task.is_searched())
        .map(|(task, n)| SpeedupRow::new(task, n))
        .collect();
    rows.sort_by(|a, b| (a.standing.cmp(&b.standing)).then(b.speedup.total_cmp(&a.speedup)));
    let rows: Vec<IntervalRow> = rows.iter().map(SpeedupRow::drawn).collect();
    intervals::draw(&rows, "Speed-up of every problem over its baseline")
}
