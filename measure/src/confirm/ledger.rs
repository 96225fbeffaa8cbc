//! The effects of a claim's processes, corrected for the effect of the load order.
//!
//! If the side loaded last is always 2 % faster, every pair of processes shows it: half the difference of the two is
//! the effect of the order, with its sign. The pairs so far give an estimate, and the next pair is judged with it
//! taken out. The test remains valid: a correction fixed before a pair adds to one of its
//! processes what it takes from the other, so for equal sides the two win chances still add up to at most 1.
//! Without it a true gain of 3 % passes a 2 % order effect in one test of five; with it, nearly always.

use crate::summary::median;

/// One process that counted.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Counted {
    log_ratio: f64,
    order_effect: f64,
    challenger_last: bool,
}

/// All processes that counted, in order; the second of each pair has the orders of the first reversed.
#[derive(Clone, Debug, Default)]
pub(super) struct ClearedEffects {
    counted: Vec<Counted>,
}

impl ClearedEffects {
    /// Enters a process and returns its corrected log ratio.
    pub(super) fn enter(&mut self, log_ratio: f64, challenger_last: bool) -> f64 {
        let order_effect = sign(challenger_last) * self.order_effect();
        self.counted.push(Counted {
            log_ratio,
            order_effect,
            challenger_last,
        });
        log_ratio - order_effect
    }

    /// The effect of being loaded last on the challenger, by the whole pairs so far: their median, shrunk towards zero
    /// as far as the pairs disagree (James and Stein's factor), and by half if there is only one.
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

    /// The log ratios as measured.
    pub(super) fn raw(&self) -> Vec<f64> {
        self.counted
            .iter()
            .map(|counted| counted.log_ratio)
            .collect()
    }

    /// The effect of the order that was subtracted from each.
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

    /// The corrected log ratios of whole pairs only.
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
