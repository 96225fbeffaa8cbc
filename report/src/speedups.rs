//! The speed-up of every problem in one picture: proven ones, those that keep their baseline, and those that are still
//! open.

use kiln_cache::record::{KeptReason, Verdict};
use maud::Markup;

use super::evidence::times;
use super::figures::TaskFigures;
use super::intervals::{self, IntervalRow};

/// The state of a problem, in the order of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ProblemState {
    /// A config is proven faster than the baseline.
    Proven,
    /// The baseline is kept.
    Kept,
    /// Nothing is decided yet: more time may prove something.
    Open,
}

/// A problem in the picture.
struct SpeedupRow<'a> {
    task: &'a TaskFigures,
    /// Its part of the page.
    number: usize,
    standing: ProblemState,
    /// How many times as fast as the baseline: proven, or in the race if it is open.
    speedup: f64,
    /// Its 95 % interval.
    interval: Option<[f64; 2]>,
}

impl ProblemState {
    /// The state of a task.
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

    /// The text next to its mark.
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

/// The speed-up of the best config in the race, which ranks and proves nothing.
fn in_race(task: &TaskFigures) -> Option<f64> {
    let ratio = task.best.first()?.ratio_ppm.filter(|&ratio| ratio > 0)?;
    Some(1.0 / times(ratio))
}

/// One row per problem, the fastest first, those that are open last; none if there are no tasks.
pub(super) fn draw(tasks: &[TaskFigures]) -> Markup {
    let mut rows: Vec<SpeedupRow<'_>> = tasks
        .iter()
        .zip(1..)
        .map(|(task, n)| SpeedupRow::new(task, n))
        .collect();
    rows.sort_by(|a, b| (a.standing.cmp(&b.standing)).then(b.speedup.total_cmp(&a.speedup)));
    let rows: Vec<IntervalRow> = rows.iter().map(SpeedupRow::drawn).collect();
    intervals::draw(&rows, "Speed-up of every problem over its baseline")
}
