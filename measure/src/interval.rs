//! A distribution-free interval for the ratio in the median process. The interval is valid whenever the test stops.
//!
//! The usual order-statistic interval is valid only for a number of processes that was fixed in advance. A confirmation
//! stops as soon as the result is clear, so each end of its interval is found by a bet like the bets of
//! [`wealth`](super::wealth): a bet that the processes lie on one side of a value. The value is outside the interval if
//! the bet has multiplied its stake by at least 2/[`MISS`]. By Ville's inequality, the true median is then outside the
//! interval with a chance of at most [`MISS`], whenever the test stops.
//!
//! The ends are still order statistics: for 6 processes the smallest and the largest ratio, for 24 processes the 5th
//! from each end.

use serde::{Deserialize, Serialize};

/// The largest chance that an interval does not contain the true median. The intervals are 95 % intervals.
pub const MISS: f64 = 0.05;

/// Factors by which a process on the predicted side, and a process on the other side, multiply the stake of a bet.
/// Their mean is 1. Six factors [`RIGHT`] multiply to just above 2/[`MISS`].
const RIGHT: f64 = 1.85;
const WRONG: f64 = 0.15;

/// An interval for the ratio of the challenger's time to the defender's time in the median process. Surveys use it for
/// times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Whether a ratio is in the interval, ends included.
    pub fn contains(&self, ratio: f64) -> bool {
        self.low <= ratio && ratio <= self.high
    }
}

/// Whether a value is outside the interval if the bet is won by `beyond` processes, which are on the predicted side of
/// the value, and lost by `short` processes, which are on the other side.
pub(super) fn is_outside(beyond: u32, short: u32) -> bool {
    product(RIGHT, beyond, WRONG, short) >= 2.0 / MISS
}

/// The product of `wins` factors `win` and `losses` factors `loss`.
pub(super) fn product(win: f64, wins: u32, loss: f64, losses: u32) -> f64 {
    let power = |base: f64, n: u32| base.powi(i32::try_from(n).unwrap_or(i32::MAX));
    power(win, wins) * power(loss, losses)
}

/// The interval for the median of `log_ratios`, as ratios. `None` for fewer than 6 processes, because they cannot
/// exclude any value at 95 %.
pub fn median_interval(log_ratios: &[f64]) -> Option<Interval> {
    let mut sorted = log_ratios.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = u32::try_from(sorted.len()).ok()?;
    let beyond = (0..=n / 2).take_while(|&k| is_outside(n - k, k)).last()?;
    let beyond = usize::try_from(beyond).ok()?;
    Some(Interval {
        low: sorted[beyond].exp(),
        high: sorted[sorted.len() - 1 - beyond].exp(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ranks(n: usize) -> Option<(usize, usize)> {
        let logs: Vec<f64> = (0..n).map(|i| i as f64 / 100.0).collect();
        let interval = median_interval(&logs)?;
        let rank = |ratio: f64| (ratio.ln() * 100.0).round() as usize;
        Some((rank(interval.low), rank(interval.high)))
    }

    #[test]
    fn five_processes_exclude_nothing() {
        assert_eq!(ranks(5), None);
        assert_eq!(ranks(0), None);
    }

    #[test]
    fn six_processes_give_their_extremes_and_twenty_four_the_fifth_of_each_end() {
        assert_eq!(ranks(6), Some((0, 5)));
        assert_eq!(ranks(8), Some((0, 7)));
        assert_eq!(ranks(24), Some((4, 19)));
    }

    /// The exact chance that the interval misses the median at *some* moment up to 24 processes.
    fn ever_missed(below: u32, above: u32) -> f64 {
        let n = below + above;
        let missed = n > 0 && (is_outside(below, above) || is_outside(above, below));
        if missed {
            return 1.0;
        }
        if n == 24 {
            return 0.0;
        }
        0.5 * ever_missed(below + 1, above) + 0.5 * ever_missed(below, above + 1)
    }

    #[test]
    fn the_worst_moment_to_stop_still_leaves_95_percent() {
        let missed = ever_missed(0, 0);
        println!("chance that the interval ever misses within 24 processes: {missed:.4}");
        assert!(missed <= MISS, "{missed}");
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_sample_median(logs in prop::collection::vec(-1.0..1.0f64, 7..40)) {
            let median = crate::summary::median(&logs).unwrap();
            prop_assert!(median_interval(&logs).unwrap().contains(median.exp()));
        }
    }
}
