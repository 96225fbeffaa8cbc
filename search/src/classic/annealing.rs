//! Simulated annealing: a walk that accepts every better config. The cooler it gets, the less often it accepts a worse
//! one.

use super::algorithm::Algorithm;
use super::positions::anywhere;
use crate::{SpaceView, neighbours};
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

/// The first temperature. At this temperature, a config is accepted with a probability of 1/e if the logarithm of its
/// cost is higher by this number.
const HOT: f64 = 0.5;

/// The lowest temperature. Below it, the walk is reheated and continues from the best config.
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
    /// Creates an algorithm that cools down over `budget` configs, but over at least 20 and at most 1,000.
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
