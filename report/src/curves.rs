//! The page about searches on recorded spaces. It shows the content of a file that `tune replay --curves` wrote.

use std::collections::BTreeMap;
use std::fmt::Write;

use kiln_spec::time::Nanoseconds;
use maud::{Markup, html};
use serde::Serialize;

use super::axis::{Axis, Quantity};
use super::page::document;
use super::svg::{ChartFrame, short};
use kiln_exchange::curves::{Curves, SearchRun};

/// Maximum number of points per curve.
const MAX_POINTS: usize = 200;

/// Number of colours. If there are more strategies than colours, the colours repeat, with dashed curves.
const COLOURS: usize = 7;

/// The figures of searches on recorded spaces.
#[derive(Clone, Debug, Serialize)]
pub struct CurveFigures {
    /// Name and version of this format.
    pub schema: &'static str,
    /// The name of the tuner that searched.
    pub tuner: String,
    /// The searches, grouped by recorded space.
    pub spaces: Vec<SpaceCurves>,
}

/// The searches on one recorded space.
#[derive(Clone, Debug, Serialize)]
pub struct SpaceCurves {
    /// The name of the space.
    pub space: String,
    /// One curve for each strategy. The strategy with the best final time is the first.
    pub strategies: Vec<StrategyCurve>,
}

/// The searches of one strategy on one space, one search per seed.
#[derive(Clone, Debug, Serialize)]
pub struct StrategyCurve {
    /// The name of the strategy.
    pub strategy: String,
    /// Number of searches.
    pub runs: usize,
    /// Number of searches that ended with an error.
    pub errors: usize,
    /// The best time as a function of the number of tried configs.
    pub points: Vec<CurvePoint>,
    /// Time that the strategy itself took per search, in nanoseconds, as the median over searches.
    pub strategy_ns: u64,
}

/// The best time after a number of configs, as the median over searches. The time of a search that has found no valid
/// config yet is infinite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CurvePoint {
    /// Number of configs tried.
    pub evals: usize,
    /// Median best time in nanoseconds. `None` unless more than half of the searches have found a valid config.
    pub median_ns: Option<u64>,
}

impl CurveFigures {
    /// Computes the figures of some searches.
    pub fn new(curves: &Curves) -> CurveFigures {
        let mut spaces: BTreeMap<&str, BTreeMap<&str, Vec<&SearchRun>>> = BTreeMap::new();
        for run in &curves.runs {
            let space = spaces.entry(&run.space).or_default();
            space.entry(&run.strategy).or_default().push(run);
        }
        let spaces = spaces.into_iter().map(|(space, strategies)| {
            let mut strategies: Vec<_> = strategies
                .into_iter()
                .map(|(strategy, runs)| StrategyCurve::new(strategy, &runs))
                .collect();
            strategies.sort_by_key(|curve| curve.last_ns().unwrap_or(u64::MAX));
            SpaceCurves {
                space: space.to_owned(),
                strategies,
            }
        });
        CurveFigures {
            schema: "kiln-report-curves/1",
            tuner: curves.tuner.clone(),
            spaces: spaces.collect(),
        }
    }
}

impl StrategyCurve {
    fn new(strategy: &str, runs: &[&SearchRun]) -> StrategyCurve {
        let most = runs.iter().map(|run| run.evals).max().unwrap_or(0);
        let step = most.div_ceil(MAX_POINTS).max(1);
        let counts = (1..most).step_by(step).chain((most > 0).then_some(most));
        let median_ns = |evals: usize| {
            let best = runs
                .iter()
                .map(|run| run.best_after(evals).unwrap_or(f64::INFINITY));
            middle(best.collect())
                .filter(|ms| ms.is_finite())
                .map(|ms| (ms * 1e6).round() as u64)
        };
        let took = runs.iter().map(|run| run.wall_s * 1e9).collect();
        StrategyCurve {
            strategy: strategy.to_owned(),
            runs: runs.len(),
            errors: runs.iter().filter(|run| run.status != "ok").count(),
            points: counts
                .map(|evals| CurvePoint {
                    evals,
                    median_ns: median_ns(evals),
                })
                .collect(),
            strategy_ns: middle(took).map_or(0, |ns| ns.round() as u64),
        }
    }

    fn last_ns(&self) -> Option<u64> {
        self.points.last()?.median_ns
    }
}

/// The median. For an even number of values, it is the larger of the two middle values.
fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Draws the figures as one HTML page that loads no other file.
pub fn curves_page(figures: &CurveFigures) -> String {
    let body = html! {
        header { h1 { "Recorded searches" } p class="note" { (figures.tuner) } }
        main {
            @for space in &figures.spaces {
                section class="task" { h2 { (space.space) } (space.draw()) }
            }
        }
    };
    document("Kiln: recorded searches", &body)
}

impl SpaceCurves {
    fn draw(&self) -> Markup {
        let points = || self.strategies.iter().flat_map(|curve| &curve.points);
        let times = points()
            .filter_map(|point| point.median_ns)
            .map(|ns| ns as f64);
        let label = format!("Best time over configs tried, {}", self.space);
        let frame = ChartFrame {
            x: Axis::over(points().map(|point| point.evals as f64), Quantity::Count),
            y: Axis::over(times, Quantity::Time),
            x_title: "configs tried",
            y_title: "best time so far, median over searches",
            label: &label,
        };
        let chart = frame.draw(html! {
            @for (place, curve) in self.strategies.iter().enumerate() {
                path class=(class(place)) d=(steps(&frame, &curve.points)) { title { (curve.strategy) } }
            }
        });
        html! {
            div class="charts" { figure { (chart) } }
            (self.table())
        }
    }

    fn table(&self) -> Markup {
        html! {
            div class="wide" {
                table class="sortable" {
                    thead { tr {
                        th class="t" { "strategy" } th class="n" { "searches" } th class="n" { "errors" }
                        th class="n" { "best at the end" } th class="n" { "time in the strategy" }
                    } }
                    tbody {
                        @for (place, curve) in self.strategies.iter().enumerate() {
                            tr {
                                td class="t" data-v=(curve.strategy) {
                                    svg class="swatch" viewBox="0 0 20 8" { path class=(class(place)) d="M0 4H20" {} }
                                    (curve.strategy)
                                }
                                td class="n" data-v=(curve.runs) { (curve.runs) }
                                td class="n" data-v=(curve.errors) { (curve.errors) }
                                td class="n" data-v=[curve.last_ns()] { @if let Some(ns) = curve.last_ns() { (Nanoseconds(ns)) } @else { "none" } }
                                td class="n" data-v=(curve.strategy_ns) { (Nanoseconds(curve.strategy_ns)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn class(place: usize) -> String {
    let dashed = if place < COLOURS { "" } else { " dashed" };
    format!("curve c{}{dashed}", place % COLOURS)
}

fn steps(frame: &ChartFrame<'_>, points: &[CurvePoint]) -> String {
    let mut path = String::new();
    let mut drawn = None;
    for point in points {
        let Some(ns) = point.median_ns else { continue };
        let (x, y) = (
            short(frame.at_x(point.evals as f64)),
            short(frame.at_y(ns as f64)),
        );
        let _ = match drawn {
            None => write!(path, "M{x} {y}"),
            Some(last) if last == ns => Ok(()),
            Some(_) => write!(path, "H{x}V{y}"),
        };
        drawn = Some(ns);
    }
    if let (Some(_), Some(last)) = (drawn, points.last()) {
        let _ = write!(path, "H{}", short(frame.at_x(last.evals as f64)));
    }
    path
}
