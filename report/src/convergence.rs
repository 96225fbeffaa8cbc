//! The convergence charts of a task: the best time so far, by trial and by time since the start of the run.

use std::fmt::Write;

use kiln_cache::Trial;
use kiln_spec::time::Nanoseconds;
use maud::{Markup, html};
use serde::Serialize;

use super::axis::{Axis, Quantity};
use super::svg::{ChartFrame, short};

/// Maximum number of trials for which every mark has a tooltip. If there are more trials, only those that improve the
/// best time have one.
const MAX_TITLED: usize = 400;

/// The trials of one task in one run, in order. A trial is one config with its outcome.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Convergence {
    /// The best time that earlier runs measured under the same tuning key, in nanoseconds; `None` if they measured no
    /// valid config.
    pub before_ns: Option<u64>,
    /// The trials, in the order in which they ended.
    pub points: Vec<ConvergencePoint>,
}

/// One trial of the chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConvergencePoint {
    /// The number of the trial among the task's trials in this run, starting at 1.
    pub trial: u64,
    /// When the trial ended, in nanoseconds since the run began.
    pub end_ns: u64,
    /// Median time of a launch in nanoseconds; `None` if the config failed.
    pub time_ns: Option<u64>,
    /// The best time so far, in nanoseconds, over this trial, all trials before it, and earlier runs. `None` if no
    /// config was valid so far.
    pub best_ns: Option<u64>,
    /// The name of the outcome.
    pub outcome: &'static str,
    /// The config.
    pub config: String,
}

/// The quantity on the horizontal axis of a convergence chart: the number of the trial, or the time since the run
/// began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    Trials,
    Seconds,
}

impl Convergence {
    /// Computes the curve for the trials of a run. The curve starts at the best time of the `earlier` trials.
    pub(super) fn new(trials: &[&Trial], earlier: &[&Trial]) -> Convergence {
        let time = |trial: &Trial| trial.outcome.summary().map(|summary| summary.median_ns);
        let before_ns = earlier.iter().filter_map(|trial| time(trial)).min();
        let mut placed: Vec<_> = trials
            .iter()
            .filter_map(|trial| Some((trial.place?, *trial)))
            .collect();
        placed.sort_by_key(|(place, _)| place.order);
        let mut best_ns = before_ns;
        let points = placed.iter().zip(1..).map(|((place, trial), number)| {
            best_ns = [best_ns, time(trial)].into_iter().flatten().min();
            ConvergencePoint {
                trial: number,
                end_ns: place.end_ns,
                time_ns: time(trial),
                best_ns,
                outcome: trial.outcome.name(),
                config: trial.config.clone(),
            }
        });
        Convergence {
            before_ns,
            points: points.collect(),
        }
    }

    /// Draws the chart. `None` if there are no trials.
    pub(super) fn draw(&self, over: Over, baseline_ns: Option<u64>, task: &str) -> Option<Markup> {
        let times = self.points.iter().filter_map(|point| point.time_ns);
        let times = times.chain(baseline_ns).chain(self.before_ns);
        let y = Axis::over(times.map(|ns| ns as f64), Quantity::Time);
        let xs = self.points.iter().map(|point| over.of(point));
        let x = match over {
            Over::Trials => Axis::over(xs, Quantity::Count),
            Over::Seconds => Axis::over(xs, Quantity::Clock),
        };
        if self.points.is_empty() {
            return None;
        }
        let label = format!("Best time so far over {}, {task}", over.title());
        let frame = ChartFrame {
            x,
            y,
            x_title: over.title(),
            y_title: "time of a launch",
            label: &label,
        };
        Some(frame.draw(html! {
            (self.baseline(&frame, baseline_ns))
            (self.trials(&frame, over))
            path class="best" d=(self.steps(&frame, over)) {}
        }))
    }

    fn baseline(&self, frame: &ChartFrame<'_>, baseline_ns: Option<u64>) -> Markup {
        let (left, right) = frame.sides();
        html! {
            @if let Some(ns) = baseline_ns {
                @let y = frame.at_y(ns as f64);
                line class="baseline" x1=(left) x2=(right) y1=(short(y)) y2=(short(y)) {
                    title { "baseline: " (Nanoseconds(ns)) }
                }
                // The label is above the line unless marks would cover it there.
                @let label = if y < frame.top() + 16.0 { y + 13.0 } else { y - 5.0 };
                text class="mark" x=(right) y=(short(label)) text-anchor="end" { "baseline" }
            }
        }
    }

    fn trials(&self, frame: &ChartFrame<'_>, over: Over) -> Markup {
        let all = self.points.len() <= MAX_TITLED;
        let improves = |index: usize| {
            let before = index
                .checked_sub(1)
                .map_or(self.before_ns, |last| self.points[last].best_ns);
            self.points[index].best_ns != before
        };
        let titled = |&index: &usize| all || improves(index);
        let (titled, plain): (Vec<usize>, Vec<usize>) = (0..self.points.len()).partition(titled);
        let plain = |valid: bool| {
            let points = plain.iter().map(|&index| &self.points[index]);
            points.filter(move |point| point.time_ns.is_some() == valid)
        };
        html! {
            @if !all {
                path class="dots valid" d=(dots(frame, over, plain(true))) {}
                path class="dots failed" d=(dots(frame, over, plain(false))) {}
            }
            @for point in titled.into_iter().map(|index| &self.points[index]) {
                (mark(frame, over, point))
            }
        }
    }

    /// The SVG path of the best time so far, as a step function.
    fn steps(&self, frame: &ChartFrame<'_>, over: Over) -> String {
        let (left, right) = frame.sides();
        let mut path = String::new();
        let mut drawn = self.before_ns;
        if let Some(ns) = drawn {
            let _ = write!(path, "M{} {}", short(left), short(frame.at_y(ns as f64)));
        }
        for point in &self.points {
            if point.best_ns == drawn {
                continue;
            }
            let Some(ns) = point.best_ns else { continue };
            let (x, y) = (
                short(frame.at_x(over.of(point))),
                short(frame.at_y(ns as f64)),
            );
            let _ = match drawn {
                None => write!(path, "M{x} {y}"),
                Some(_) => write!(path, "H{x}V{y}"),
            };
            drawn = point.best_ns;
        }
        if drawn.is_some() {
            let last = self
                .points
                .last()
                .map_or(right, |point| frame.at_x(over.of(point)));
            let _ = write!(path, "H{}", short(last));
        }
        path
    }
}

impl Over {
    fn of(self, point: &ConvergencePoint) -> f64 {
        match self {
            Over::Trials => point.trial as f64,
            Over::Seconds => point.end_ns as f64,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Over::Trials => "trial of this run",
            Over::Seconds => "seconds since the run began",
        }
    }
}

/// The position of a trial's mark. A valid trial is at its time, and a failed one is above all times.
fn place(frame: &ChartFrame<'_>, over: Over, point: &ConvergencePoint) -> (f64, f64) {
    let y = point
        .time_ns
        .map_or(frame.above(), |ns| frame.at_y(ns as f64));
    (frame.at_x(over.of(point)), y)
}

/// The SVG path that draws trials as dots without tooltips.
fn dots<'p>(
    frame: &ChartFrame<'_>,
    over: Over,
    points: impl Iterator<Item = &'p ConvergencePoint>,
) -> String {
    let mut path = String::new();
    for point in points {
        let (x, y) = place(frame, over, point);
        let _ = write!(path, "M{} {}h0", short(x), short(y));
    }
    path
}

fn mark(frame: &ChartFrame<'_>, over: Over, point: &ConvergencePoint) -> Markup {
    let (x, y) = place(frame, over, point);
    let title = html! {
        title {
            "trial " (point.trial) ", " (Nanoseconds(point.end_ns)) ": "
            @match point.time_ns {
                Some(ns) => (Nanoseconds(ns)),
                None => (point.outcome),
            }
            "\n" (point.config)
        }
    };
    html! {
        @if point.time_ns.is_some() {
            circle class="valid" cx=(short(x)) cy=(short(y)) r="3" { (title) }
        } @else {
            path class="failed" d=(format!("M{} {}l6 6m0 -6l-6 6", short(x - 3.0), short(y - 3.0))) { (title) }
        }
    }
}
