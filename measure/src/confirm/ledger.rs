//! The effects of the processes of a claim, corrected for the effect of the load order.
//!
//! If the side that is loaded last is always 2 % faster, every pair of processes shows this, because its two processes
//! have reversed orders. Half the difference between the effects of the two processes is the effect of the order. The
//! pairs so far give an estimate of this effect, which is subtracted from the processes of the next pair. The test
//! remains valid: because the correction is fixed before a pair begins, it adds to one process of the pair what it
//! subtracts from the other, so for equal sides the two chances of a win still add up to at most 1.
//!
//! Without the correction, a true gain of 3 % is proven in one test of five if the order effect is 2 %. With it, such a
//! gain is proven nearly always.

use crate::summary::median;

/// A process that was used.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Counted {
    log_ratio: f64,
    order_effect: f64,
    challenger_last: bool,
}

/// All processes that were used, in order. The second process of each pair reverses the orders of the first one.
#[derive(Clone, Debug, Default)]
pub(super) struct ClearedEffects {
    counted: Vec<Counted>,
}

impl ClearedEffects {
    /// Adds a process, and returns its corrected log ratio.
    pub(super) fn enter(&mut self, log_ratio: f64, challenger_last: bool) -> f64 {
        let order_effect = sign(challenger_last) * self.order_effect();
        self.counted.push(Counted {
            log_ratio,
            order_effect,
            challenger_last,
        });
        log_ratio - order_effect
    }

    /// The estimated effect on the challenger's log ratio of being loaded last. It is the median of the estimates of
    /// the whole pairs so far. The more the pairs disagree, the more the median is shrunk towards zero (James and
    /// Stein's factor). The estimate of a single pair is halved.
    fn order_effect(&self) -> f64 {
        let pairs = self.counted.chunks_exact(2);
        let halves: Vec<f64> = pairs
            .map(|pair| half_difference(pair[0], pair[1]))
            .collect();
        let Some(middle) = median(&halves) else {
            return 0.0;
        };
        let n = halves.len() as f64;
        if halves.len() < 2 {
            return middle / 2.0;
        }
        let mean = halves.iter().sum::<f64>() / n;
        let variance = halves.iter().map(|half| (half - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let kept = 1.0 - variance / n / middle.powi(2).max(f64::MIN_POSITIVE);
        middle * kept.max(0.0)
    }

    /// The measured log ratios.
    pub(super) fn raw(&self) -> Vec<f64> {
        self.counted
            .iter()
            .map(|counted| counted.log_ratio)
            .collect()
    }

    /// The order effect that was subtracted from each log ratio.
    pub(super) fn order_effects(&self) -> Vec<f64> {
        self.counted
            .iter()
            .map(|counted| counted.order_effect)
            .collect()
    }

    /// The corrected log ratios.
    pub(super) fn cleared(&self) -> Vec<f64> {
        self.counted
            .iter()
            .map(|counted| counted.log_ratio - counted.order_effect)
            .collect()
    }

    /// The corrected log ratios of the whole pairs only.
    pub(super) fn cleared_pairs(&self) -> Vec<f64> {
        let mut cleared = self.cleared();
        cleared.truncate(cleared.len() / 2 * 2);
        cleared
    }
}

fn sign(challenger_last: bool) -> f64 {
    if challenger_last { 1.0 } else { -1.0 }
}

fn half_difference(first: Counted, second: Counted) -> f64 {
    sign(first.challenger_last) * (first.log_ratio - second.log_ratio) / 2.0
}
