//! The decision of a task, and the measurements on which it is based.

use kiln_cache::Winner;
use kiln_cache::record::{ConfirmProcess, Verdict};
use maud::{Markup, html};
use serde::Serialize;

use super::axis::{Axis, Quantity};
use super::svg::{WIDTH, breakable, short};

/// The decision of a task, and the speed-ups measured in the confirming processes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DecisionFigures {
    /// The decision, as the cache stores it together with the statistics on which it is based. `None` if nothing was
    /// decided.
    pub winner: Option<Winner>,
    /// The finalist: the config that was compared with the baseline in fresh processes, whether or not it was proven
    /// faster. `None` if the decision was made without such a comparison.
    pub finalist: Option<String>,
    /// The speed-up of the finalist over the baseline in each fresh process: the median over the blocks of the
    /// process.
    pub process_speedups: Vec<f64>,
}

impl DecisionFigures {
    /// Combines a decision with the confirmation on which it is based. For a proven winner, this is the last
    /// confirmation of the winner. For a baseline that was kept after a confirmation, it is the last confirmation of
    /// any config. Confirmations of runs after run `latest` are ignored.
    pub(super) fn new(
        winner: Option<Winner>,
        confirmations: &[ConfirmProcess],
        latest: u64,
    ) -> DecisionFigures {
        let proven = winner.as_ref().filter(|winner| winner.confirm.is_some());
        let proven = proven.map(|winner| match winner.verdict {
            Verdict::Proven { .. } => Some(winner.config.as_str()),
            Verdict::BaselineKept { .. } => None,
        });
        // If the decision was made without a confirmation, there are no processes to show.
        let Some(config) = proven else {
            return DecisionFigures {
                winner,
                ..DecisionFigures::default()
            };
        };
        let mine = |process: &&ConfirmProcess| {
            process.series <= latest && config.is_none_or(|config| config == process.config)
        };
        let last = confirmations
            .iter()
            .filter(mine)
            .max_by_key(|process| process.series);
        let finalist = last.map(|process| process.config.clone());
        let series = last.map(|process| process.series);
        let of_series = confirmations.iter().filter(|process| {
            Some(process.series) == series && Some(&process.config) == finalist.as_ref()
        });
        DecisionFigures {
            process_speedups: of_series.filter_map(speedup).collect(),
            finalist,
            winner,
        }
    }

    /// Summarises the decision in one line.
    pub(super) fn headline(&self) -> String {
        match self.winner.as_ref().map(|winner| winner.verdict) {
            None => "nothing decided".into(),
            Some(Verdict::Proven {
                speedup_ppm,
                low_ppm,
                high_ppm,
            }) => {
                let [speedup, low, high] = [speedup_ppm, low_ppm, high_ppm].map(times);
                format!("proven {speedup:.2}× the baseline [{low:.2}, {high:.2}]")
            }
            Some(Verdict::BaselineKept { reason }) => format!("baseline kept: {reason}"),
        }
    }

    /// Draws the decision with all its details.
    pub(super) fn draw(&self) -> Markup {
        let Some(winner) = &self.winner else {
            return html! { p class="none" { "Nothing was decided in this run; builds launch the baseline." } };
        };
        html! {
            p class=(self.class()) { (self.headline()) }
            div class="charts" { figure class="evidence" { (self.processes()) } }
            dl {
                dt { "config that runs" } dd { code { @if winner.config.is_empty() { "(no parameters)" } @else { (breakable(&winner.config)) } } }
                dt { "compared with" } dd { code { (breakable(&winner.baseline.to_string())) } }
                @if let Some(finalist) = self.finalist.as_ref().filter(|finalist| **finalist != winner.config) {
                    dt { "finalist" } dd { code { (breakable(finalist)) } }
                }
                @if let Some(confirm) = winner.confirm {
                    dt { "fresh processes" } dd { (confirm.processes) ", won by the finalist: " (confirm.wins) }
                }
                dt { "kernel that ran" } dd { code { (winner.symbol) } }
                dt { "launch" } dd { code { (winner.plan) } }
                dt { "receipt" } dd { code { (winner.receipt) } }
                dt { "outputs" } dd { (winner.grade.in_words()) }
            }
        }
    }

    fn class(&self) -> &'static str {
        match self.winner.as_ref().map(|winner| winner.verdict) {
            Some(Verdict::Proven { .. }) => "verdict proven",
            _ => "verdict kept",
        }
    }

    /// Draws one dot per process, the interval of the speed-up, and the baseline.
    fn processes(&self) -> Markup {
        if self.process_speedups.is_empty() {
            return html! {};
        }
        let interval = self.interval();
        let values = self.process_speedups.iter().copied().chain([1.0]);
        let values = values.chain(interval.into_iter().flatten());
        let axis = Axis::over(values, Quantity::Speedup);
        const MARGIN: f64 = 24.0;
        const HEIGHT: f64 = 84.0;
        let at = |value: f64| short(MARGIN + axis.place(value) * (WIDTH - 2.0 * MARGIN));
        html! {
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) class="chart" role="img" aria-label="Speed-up in each fresh process" {
                line class="baseline" x1=(at(1.0)) x2=(at(1.0)) y1="14" y2="44" { title { "baseline" } }
                text class="mark" x=(at(1.0)) y="11" text-anchor="middle" { "baseline" }
                @if let Some([low, middle, high]) = interval {
                    line class="whisker" x1=(at(low)) x2=(at(high)) y1="29" y2="29" {}
                    line class="whisker" x1=(at(middle)) x2=(at(middle)) y1="21" y2="37" {
                        title { (format!("{middle:.3}× [{low:.3}, {high:.3}]")) }
                    }
                }
                @for (speedup, process) in self.process_speedups.iter().zip(1_u32..) {
                    circle class="valid" cx=(at(*speedup)) cy=(if process % 2 == 0 { "25" } else { "33" }) r="3.5" {
                        title { "process " (process) ": " (format!("{speedup:.3}×")) }
                    }
                }
                line class="axis" x1=(MARGIN) x2=(WIDTH - MARGIN) y1="46" y2="46" {}
                @for tick in axis.ticks() {
                    line class="axis" x1=(at(tick.value)) x2=(at(tick.value)) y1="46" y2="50" {}
                    text class="tick" x=(at(tick.value)) y="62" text-anchor="middle" { (tick.label) }
                }
                text class="title" x=(WIDTH / 2.0) y="80" text-anchor="middle" { "times as fast as the baseline, a dot for each fresh process" }
            }
        }
    }

    /// The lower end of the interval, the median and the upper end, as speed-ups.
    fn interval(&self) -> Option<[f64; 3]> {
        let confirm = self.winner.as_ref()?.confirm?;
        // The stored logarithms are of the config's time divided by the baseline's time. A speed-up is the inverse of
        // this ratio, so its upper end comes from the lower end of the ratio.
        let speedup = |ppm: i64| (-(ppm as f64) / 1e6).exp();
        Some([
            speedup(confirm.high_log_ratio_ppm),
            speedup(confirm.median_log_ratio_ppm),
            speedup(confirm.low_log_ratio_ppm),
        ])
    }
}

fn speedup(process: &ConfirmProcess) -> Option<f64> {
    let mut blocks = process.block_log_ratio_ppm.clone();
    blocks.sort_unstable();
    let last = blocks.len().checked_sub(1)?;
    let median = f64::midpoint(blocks[last / 2] as f64, blocks[last.div_ceil(2)] as f64);
    Some((-median / 1e6).exp())
}

/// Converts millionths to a ratio.
pub(super) fn times(ppm: u64) -> f64 {
    ppm as f64 / 1e6
}
