//! The speed-up of every problem in one picture: proven ones, those that keep their baseline, and those that are still
//! open.

use kiln_cache::record::{KeptReason, Verdict};
use maud::{Markup, html};

use super::axis::{Axis, Quantity};
use super::evidence::times;
use super::figures::TaskFigures;
use super::svg::short;

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

const WIDTH: f64 = 900.0;
const NAMES: f64 = 380.0;
const RIGHT: f64 = 170.0;
const LINE: f64 = 19.0;
const FOOT: f64 = 40.0;

/// One row per problem, the fastest first, those that are open last; none if there are no tasks.
pub(super) fn draw(tasks: &[TaskFigures]) -> Markup {
    let mut rows: Vec<SpeedupRow<'_>> = tasks
        .iter()
        .zip(1..)
        .map(|(task, n)| SpeedupRow::new(task, n))
        .collect();
    rows.sort_by(|a, b| (a.standing.cmp(&b.standing)).then(b.speedup.total_cmp(&a.speedup)));
    let values = rows.iter().map(|row| row.speedup).chain([1.0]);
    let ends = rows.iter().flat_map(|row| row.interval).flatten();
    let axis = Axis::over(values.chain(ends), Quantity::Speedup);
    let bottom = LINE * rows.len() as f64 + 8.0;
    let at = |value: f64| short(NAMES + axis.place(value) * (WIDTH - NAMES - RIGHT));
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {}", bottom + FOOT)) class="chart speedups" role="img" aria-label="Speed-up of every problem over its baseline" {
            line class="baseline" x1=(at(1.0)) x2=(at(1.0)) y1="2" y2=(bottom) { title { "baseline" } }
            @for (row, line) in rows.iter().zip(0_u32..) {
                (draw_row(row, f64::from(line) * LINE + 14.0, &at))
            }
            line class="axis" x1=(NAMES) x2=(WIDTH - RIGHT) y1=(bottom) y2=(bottom) {}
            @for tick in axis.ticks() {
                line class="axis" x1=(at(tick.value)) x2=(at(tick.value)) y1=(bottom) y2=(bottom + 4.0) {}
                text class="tick" x=(at(tick.value)) y=(bottom + 17.0) text-anchor="middle" { (tick.label) }
            }
            text class="title" x=(f64::midpoint(NAMES, WIDTH - RIGHT)) y=(bottom + 35.0) text-anchor="middle" {
                "times as fast as the baseline" @if axis.is_log() { " (log)" }
            }
        }
    }
}

fn draw_row(row: &SpeedupRow<'_>, y: f64, at: &impl Fn(f64) -> String) -> Markup {
    let name = row.task.name();
    html! {
        g class=(row.standing.class()) {
            a href=(format!("#task-{}", row.number)) {
                text x=(NAMES - 12.0) y=(y + 4.0) text-anchor="end" { (fitting(&name)) title { (name) } }
            }
            @if let Some([low, high]) = row.interval {
                line class="whisker" x1=(at(low)) x2=(at(high)) y1=(y) y2=(y) { title { (format!("[{low:.2}, {high:.2}]")) } }
            }
            circle cx=(at(row.speedup)) cy=(y) r="4" { title { (name) ": " (row.task.evidence.headline()) } }
            text class="mark" x=(WIDTH - RIGHT + 8.0) y=(y + 4.0) { (row.says()) }
        }
    }
}

/// A name, cut to the available space.
fn fitting(name: &str) -> String {
    const MAX_CHARS: usize = 56;
    if name.chars().count() <= MAX_CHARS {
        return name.to_owned();
    }
    let cut: String = name.chars().take(MAX_CHARS - 1).collect();
    format!("{cut}…")
}
