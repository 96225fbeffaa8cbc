//! The histogram of the times of valid configs.

use kiln_spec::time::Nanoseconds;
use maud::{Markup, html};
use serde::Serialize;

use super::axis::{Axis, Quantity};
use super::svg::{ChartFrame, short};

/// Maximum number of bars.
const MAX_BARS: usize = 36;

/// The number of configs by time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Histogram {
    /// The edges of the bars in nanoseconds, one more than there are bars. Neighbouring edges differ by a constant,
    /// or by a constant factor if the axis is logarithmic.
    pub edges_ns: Vec<f64>,
    /// The number of configs in each bar.
    pub counts: Vec<u64>,
}

impl Histogram {
    /// Creates the histogram of times in nanoseconds. `None` if there are fewer than two different times.
    pub(super) fn new(times_ns: &[u64]) -> Option<Histogram> {
        let (least, most) = (*times_ns.iter().min()?, *times_ns.iter().max()?);
        if times_ns.len() < 2 || least == most {
            return None;
        }
        let (lo, hi) = (least.max(1) as f64, most as f64);
        // The number of bars is twice the square root of the number of times. This is enough to separate two clusters,
        // but not too many if there are few times.
        let bars = (2.0 * (times_ns.len() as f64).sqrt()).ceil() as usize;
        let bars = bars.clamp(4, MAX_BARS);
        let is_log = Axis::over([lo, hi], Quantity::Time).is_log();
        let edge = |n: usize| {
            let share = n as f64 / bars as f64;
            if is_log {
                lo * (hi / lo).powf(share)
            } else {
                lo + (hi - lo) * share
            }
        };
        let edges_ns: Vec<f64> = (0..=bars).map(edge).collect();
        let mut counts = vec![0; bars];
        for &time in times_ns {
            let bar = edges_ns[1..bars].partition_point(|edge| *edge <= time as f64);
            counts[bar] += 1;
        }
        Some(Histogram { edges_ns, counts })
    }

    /// Draws the chart.
    pub(super) fn draw(&self, baseline_ns: Option<u64>, task: &str) -> Markup {
        let ends = self
            .edges_ns
            .iter()
            .copied()
            .chain(baseline_ns.map(|ns| ns as f64));
        let label = format!("Times of valid configs, {task}");
        let frame = ChartFrame {
            x: Axis::over(ends, Quantity::Time),
            y: Axis::over(
                self.counts.iter().map(|count| *count as f64),
                Quantity::Count,
            ),
            x_title: "time of a launch",
            y_title: "configs",
            label: &label,
        };
        let bars = self.counts.iter().zip(self.edges_ns.windows(2));
        frame.draw(html! {
            @for (&count, edges) in bars.filter(|(count, _)| **count > 0) {
                @let (x, end) = (frame.at_x(edges[0]), frame.at_x(edges[1]));
                @let y = frame.at_y(count as f64);
                rect class="g-valid" x=(short(x)) y=(short(y)) width=(short((end - x - 1.0).max(1.0))) height=(short(frame.bottom() - y)) {
                    title { (count) " configs of " (Nanoseconds(edges[0] as u64)) " to " (Nanoseconds(edges[1] as u64)) }
                }
            }
            @if let Some(ns) = baseline_ns {
                @let x = frame.at_x(ns as f64);
                @let is_right = x > f64::midpoint(frame.sides().0, frame.sides().1);
                line class="baseline" x1=(short(x)) x2=(short(x)) y1=(frame.top()) y2=(frame.bottom()) {
                    title { "baseline: " (Nanoseconds(ns)) }
                }
                text class="mark" x=(short(if is_right { x - 5.0 } else { x + 5.0 })) y=(frame.top() + 10.0)
                    text-anchor=(if is_right { "end" } else { "start" }) { "baseline" }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_time_is_in_the_one_bar_whose_edges_hold_it(
            times in prop::collection::vec(1_u64..1_000_000, 2..300),
        ) {
            let Some(histogram) = Histogram::new(&times) else {
                prop_assert!(times.iter().all(|time| *time == times[0]));
                return Ok(());
            };
            prop_assert_eq!(histogram.counts.iter().sum::<u64>(), times.len() as u64);
            prop_assert_eq!(histogram.edges_ns.len(), histogram.counts.len() + 1);
            prop_assert!(histogram.edges_ns.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(histogram.counts[0] > 0 && *histogram.counts.last().unwrap() > 0);
        }
    }
}
