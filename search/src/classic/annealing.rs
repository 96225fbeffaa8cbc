//! Simulated annealing: a walk that takes every better step, and worse ones less often as it cools.

use super::algorithm::Algorithm;
use super::positions::anywhere;
use crate::{SpaceView, neighbours};
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

/// Worse by this factor is taken with a probability of 1/e at the start.
const HOT: f64 = 0.5;

/// The same at the lowest temperature; the walk is then reheated from the best config.
const COOL: f64 = 0.005;

/// Simulated annealing.
#[derive(Clone, Debug)]
pub struct Annealing {
    here: Option<(usize, f64)>,
    best: Option<(usize, f64)>,
    temperature: f64,
    cooling: f64,
}

impl Annealing {
    /// The number of configs over which it cools down.
    pub fn new(budget: usize) -> Self {
        Self {
            here: None,
            best: None,
            temperature: HOT,
            cooling: (COOL / HOT).powf(1.0 / budget.clamp(20, 1_000) as f64),
        }
    }
}

impl Algorithm for Annealing {
    fn name(&self) -> &'static str {
        "annealing"
    }

    fn propose(&mut self, space: &dyn SpaceView, rng: &mut ChaCha8Rng) -> Vec<usize> {
        let step = self
            .here
            .and_then(|here| neighbours(space, here.0).choose(rng).copied());
        vec![step.unwrap_or_else(|| anywhere(space, rng))]
    }

    fn learn(&mut self, costs: &[(usize, f64)], _: &dyn SpaceView, rng: &mut ChaCha8Rng) {
        for &(index, cost) in costs.iter().filter(|cost| cost.1.is_finite()) {
            let worse = self.here.map_or(0.0, |here| (cost / here.1).ln());
            if worse <= 0.0 || rng.random::<f64>() < (-worse / self.temperature).exp() {
                self.here = Some((index, cost));
            }
            if self.best.is_none_or(|best| cost < best.1) {
                self.best = Some((index, cost));
            }
        }
        self.temperature *= self.cooling;
        if self.temperature < COOL {
            self.temperature = HOT;
            self.here = self.best;
        }
    }
}
