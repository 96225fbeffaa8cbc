//! The table of the best configs of a task.

use kiln_cache::Trial;
use kiln_spec::time::Nanoseconds;
use maud::{Markup, html};
use serde::Serialize;

use super::params::Params;

/// Maximum number of configs in the table.
const MAX_ROWS: usize = 25;

/// One row of the table of the best configs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BestConfig {
    /// The config, as the text `NAME=value,…`.
    pub config: String,
    /// Median time of a launch, in nanoseconds.
    pub median_ns: u64,
    /// Shortest time of a launch, in nanoseconds.
    pub min_ns: u64,
    /// The config's time divided by the baseline's time, in millionths. Both were measured in the same race. `None` if
    /// the race did not measure the baseline.
    pub ratio_ppm: Option<u64>,
    /// Number of samples from which the median is computed. It is small if the config left the race early.
    pub samples: u32,
    /// Time that the compiler took for this config, in nanoseconds.
    pub compile_ns: u64,
    /// Number of the run that tried the config, if known.
    pub run: Option<u64>,
}

/// Returns the best valid configs, at most [`MAX_ROWS`]. They are sorted by their ratio to the baseline, which is also
/// their cost in the search, and then by time.
pub(super) fn best(trials: &[&Trial]) -> Vec<BestConfig> {
    let one = |trial: &&Trial| {
        let summary = trial.outcome.summary()?;
        Some(BestConfig {
            config: trial.config.clone(),
            median_ns: summary.median_ns,
            min_ns: summary.min_ns,
            ratio_ppm: summary.ratio_ppm,
            samples: summary.samples,
            compile_ns: trial.compile_ns,
            run: trial.place.map(|place| place.run),
        })
    };
    let mut best: Vec<BestConfig> = trials.iter().filter_map(one).collect();
    best.sort_by_key(|config| (config.ratio_ppm.unwrap_or(u64::MAX), config.median_ns));
    best.truncate(MAX_ROWS);
    best
}

/// Draws the table. It has one column for each parameter with different values; the other parameters are listed once
/// above it.
pub(super) fn draw(best: &[BestConfig], winner: Option<&str>) -> Markup {
    if best.is_empty() {
        return html! { p class="none" { "No config was valid." } };
    }
    let texts: Vec<&str> = best.iter().map(|config| config.config.as_str()).collect();
    let params = Params::of_texts(&texts);
    html! {
        @if !params.fixed.is_empty() {
            p class="note" {
                "The same in all of them: "
                @for (place, (name, value)) in params.fixed.iter().enumerate() {
                    @if place > 0 { ", " } code { (name) "=" (value) }
                }
            }
        }
        div class="wide" {
            table class="sortable" {
                thead {
                    tr {
                        th class="n" { "#" }
                        th class="n" { "median" } th class="n" { "min" }
                        th class="n" title="times as fast as the baseline, measured side by side; not proven" { "raced" }
                        th class="n" { "samples" }
                        @for param in &params.varied { th class=(number_class(param.is_ordinal)) { (param.name) } }
                        th class="n" { "compile" } th class="n" { "run" }
                    }
                }
                tbody {
                    @for ((config, row), place) in best.iter().zip(&params.rows).zip(1_u32..) {
                        tr class=[(winner == Some(config.config.as_str())).then_some("winner")] {
                            td class="n" data-v=(place) { (place) }
                            (time(config.median_ns)) (time(config.min_ns))
                            (raced(config.ratio_ppm))
                            td class="n" data-v=(config.samples) { (config.samples) }
                            @for (param, &value) in params.varied.iter().zip(row) {
                                td class=(number_class(param.is_ordinal)) data-v=(param.values[value]) { (param.values[value]) }
                            }
                            (time(config.compile_ns))
                            td class="n" data-v=[config.run] { @if let Some(run) = config.run { (run) } @else { "?" } }
                        }
                    }
                }
            }
        }
    }
}

fn number_class(is_number: bool) -> &'static str {
    if is_number { "n" } else { "t" }
}

fn time(ns: u64) -> Markup {
    html! { td class="n" data-v=(ns) { (Nanoseconds(ns)) } }
}

fn raced(ratio_ppm: Option<u64>) -> Markup {
    let speedup = ratio_ppm.filter(|ppm| *ppm > 0).map(|ppm| 1e6 / ppm as f64);
    html! {
        @match speedup {
            Some(speedup) => td class="n" data-v=(format!("{speedup:.6}")) { (format!("{speedup:.2}×")) },
            None => td class="n" {},
        }
    }
}
