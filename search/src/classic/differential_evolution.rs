//! Differential evolution (best/1/bin). A mutant is the best config plus the scaled difference of two random ones. The
//! mutant is crossed with a config of the population, and the result replaces that config if it is not worse.

use super::algorithm::Algorithm;
use super::positions::{anywhere, numbers, repaired, rounded};
use crate::SpaceView;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Number of configs in the population.
const POPULATION: usize = 16;

/// The factor by which the difference of two configs is scaled.
const SCALE: f64 = 0.7;

/// The probability that a parameter has the value of the mutant.
const CROSSOVER: f64 = 0.7;

/// Differential evolution.
#[derive(Clone, Debug, Default)]
pub struct DifferentialEvolution {
    population: Vec<(usize, f64)>,
}

impl DifferentialEvolution {
    fn trial(&self, target: usize, space: &dyn SpaceView, rng: &mut ChaCha8Rng) -> usize {
        let draw = |rng: &mut ChaCha8Rng| {
            numbers(
                space,
                self.population[rng.random_range(0..self.population.len())].0,
            )
        };
        let (a, b) = (draw(rng), draw(rng));
        let best = self.population.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        let best = numbers(space, best.map_or(target, |best| best.0));
        let mut trial = numbers(space, target);
        for param in 0..trial.len() {
            if rng.random::<f64>() < CROSSOVER {
                trial[param] = best[param] + SCALE * (a[param] - b[param]);
            }
        }
        repaired(space, rounded(space, &trial), rng)
    }
}

impl Algorithm for DifferentialEvolution {
    fn name(&self) -> &'static str {
        "differential-evolution"
    }

    fn propose(&mut self, space: &dyn SpaceView, rng: &mut ChaCha8Rng) -> Vec<usize> {
        if self.population.is_empty() {
            return (0..POPULATION).map(|_| anywhere(space, rng)).collect();
        }
        self.population
            .iter()
            .map(|target| self.trial(target.0, space, rng))
            .collect()
    }

    fn learn(&mut self, costs: &[(usize, f64)], _: &dyn SpaceView, _: &mut ChaCha8Rng) {
        if self.population.is_empty() {
            self.population = costs.to_vec();
            return;
        }
        for (target, trial) in self.population.iter_mut().zip(costs) {
            if trial.1 <= target.1 {
                *target = *trial;
            }
        }
    }
}
