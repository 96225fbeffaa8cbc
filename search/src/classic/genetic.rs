//! A genetic algorithm with tournament selection of parents, uniform crossover and mutation. The best configs of a
//! generation survive.

use super::algorithm::Algorithm;
use super::positions::{anywhere, repaired};
use crate::SpaceView;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Number of configs in a generation.
const POPULATION: usize = 16;

/// Number of best configs that survive.
const ELITE: usize = 4;

/// The genetic algorithm.
#[derive(Clone, Debug, Default)]
pub struct Genetic {
    /// The current generation, best first.
    population: Vec<(usize, f64)>,
}

impl Genetic {
    /// Selects a parent: the better of two random configs.
    fn parent(&self, rng: &mut ChaCha8Rng) -> usize {
        let draw = rng.random_range(0..self.population.len());
        self.population[draw.min(rng.random_range(0..self.population.len()))].0
    }

    fn child(&self, space: &dyn SpaceView, rng: &mut ChaCha8Rng) -> usize {
        let (one, other) = (
            space.positions(self.parent(rng)),
            space.positions(self.parent(rng)),
        );
        let counts = space.value_counts();
        let mutation = 1.0 / counts.iter().filter(|count| **count > 1).count().max(1) as f64;
        let gene = |param: usize, rng: &mut ChaCha8Rng| {
            if rng.random::<f64>() < mutation {
                rng.random_range(0..counts[param])
            } else if rng.random::<bool>() {
                one[param]
            } else {
                other[param]
            }
        };
        let child = (0..counts.len()).map(|param| gene(param, rng)).collect();
        repaired(space, child, rng)
    }
}

impl Algorithm for Genetic {
    fn name(&self) -> &'static str {
        "genetic"
    }

    fn propose(&mut self, space: &dyn SpaceView, rng: &mut ChaCha8Rng) -> Vec<usize> {
        if self.population.is_empty() {
            return (0..POPULATION).map(|_| anywhere(space, rng)).collect();
        }
        (ELITE..POPULATION)
            .map(|_| self.child(space, rng))
            .collect()
    }

    fn learn(&mut self, costs: &[(usize, f64)], _: &dyn SpaceView, _: &mut ChaCha8Rng) {
        self.population.truncate(ELITE);
        self.population
            .extend(costs.iter().filter(|cost| cost.1.is_finite()));
        self.population.sort_by(|a, b| a.1.total_cmp(&b.1));
        self.population.dedup_by_key(|one| one.0);
        self.population.truncate(POPULATION);
    }
}
