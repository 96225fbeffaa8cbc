//! The classic strategies: one algorithm a file, all on the same ground.
//!
//! Each is written as its textbook has it, as a state that proposes a config and learns its cost. A proposal that was
//! tried before costs nothing: its result is known, and the algorithm goes on with it.

mod annealing;
mod differential_evolution;
mod genetic;
mod latin_hypercube;
mod local_search;
mod particle_swarm;
mod tabu;

pub use annealing::Annealing;
pub use differential_evolution::DifferentialEvolution;
pub use genetic::Genetic;
pub use latin_hypercube::LatinHypercube;
pub use local_search::LocalSearch;
pub use particle_swarm::ParticleSwarm;
pub use tabu::Tabu;

use super::ledger::Ledger;
use super::space::SpaceView;
use super::{Strategy, Told};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;

/// A textbook algorithm that tries one config after another, or a generation at a time.
pub trait Algorithm {
    /// Its name, as in [`NAMES`](super::NAMES).
    fn name(&self) -> &'static str;

    /// The configs to try next; none if it cannot think of any.
    fn propose(&mut self, space: &dyn SpaceView, rng: &mut ChaCha8Rng) -> Vec<usize>;

    /// Takes in the cost of every config it proposed, in the same order; infinite for those that failed.
    fn learn(&mut self, costs: &[(usize, f64)], space: &dyn SpaceView, rng: &mut ChaCha8Rng);
}

/// Proposals in a row that were all known before, after which a random config is tried.
const MOST_KNOWN: usize = 100;

/// A strategy that runs an algorithm.
pub struct Classic<'a, A> {
    algorithm: A,
    space: &'a dyn SpaceView,
    rng: ChaCha8Rng,
    ledger: Ledger,
    /// The generation that is being tried.
    generation: Vec<usize>,
    /// Those of it that are still to be asked for.
    open: VecDeque<usize>,
    idle: usize,
}

impl<'a, A: Algorithm> Classic<'a, A> {
    /// Runs `algorithm` on a space.
    pub fn new(algorithm: A, space: &'a dyn SpaceView, mut rng: ChaCha8Rng) -> Self {
        Self {
            ledger: Ledger::new(space.len(), &mut rng),
            algorithm,
            space,
            rng,
            generation: Vec::new(),
            open: VecDeque::new(),
            idle: 0,
        }
    }

    /// Goes on to the next generation with something to ask for, if all results of this one are known.
    fn advance(&mut self) {
        while self.open.is_empty() && !self.ledger.is_exhausted() {
            let result = |&index: &usize| {
                Some((
                    index,
                    self.ledger.result(index)?.cost.unwrap_or(f64::INFINITY),
                ))
            };
            let Some(costs) = self
                .generation
                .iter()
                .map(result)
                .collect::<Option<Vec<_>>>()
            else {
                return;
            };
            if !costs.is_empty() {
                self.algorithm.learn(&costs, self.space, &mut self.rng);
            }
            self.generation = self.algorithm.propose(self.space, &mut self.rng);
            let fresh = self
                .generation
                .iter()
                .filter(|index| !self.ledger.was_asked(**index));
            self.open = fresh.copied().collect();
            self.idle = if self.open.is_empty() {
                self.idle + 1
            } else {
                0
            };
            if self.idle >= MOST_KNOWN || self.generation.is_empty() {
                self.idle = 0;
                self.open.extend(self.ledger.strays(1));
            }
        }
    }
}

impl<A: Algorithm> Strategy for Classic<'_, A> {
    fn name(&self) -> &'static str {
        self.algorithm.name()
    }

    fn ask(&mut self, n: usize) -> Vec<usize> {
        let mut asked = Vec::new();
        while asked.len() < n {
            self.advance();
            let Some(index) = self.open.pop_front() else {
                break;
            };
            // A stray was noted as asked for when it was drawn.
            if self.ledger.ask(index) || !self.generation.contains(&index) {
                asked.push(index);
            }
        }
        if asked.is_empty() {
            // Results are late: something else is tried meanwhile.
            asked = self.ledger.strays(n);
        }
        asked
    }

    fn tell(&mut self, told: &[Told]) {
        self.ledger.tell(told);
    }
}

/// A random config.
fn anywhere(space: &dyn SpaceView, rng: &mut ChaCha8Rng) -> usize {
    rng.random_range(0..space.len())
}

/// The valid config at these positions, or one near: each parameter in turn is moved to the nearest value that makes the
/// config valid; a random config if none does.
fn repaired(space: &dyn SpaceView, mut positions: Vec<u32>, rng: &mut ChaCha8Rng) -> usize {
    if let Some(index) = space.index_of(&positions) {
        return index;
    }
    let counts = space.value_counts();
    let first = rng.random_range(0..counts.len().max(1));
    for offset in 0..counts.len() {
        let param = (first + offset) % counts.len();
        let here = positions[param];
        let mut values: Vec<u32> = (0..counts[param]).filter(|&value| value != here).collect();
        values.sort_by_key(|value| value.abs_diff(here));
        for value in values {
            positions[param] = value;
            if let Some(index) = space.index_of(&positions) {
                return index;
            }
        }
        positions[param] = here;
    }
    anywhere(space, rng)
}

/// Positions rounded from numbers, inside the bounds.
fn rounded(space: &dyn SpaceView, numbers: &[f64]) -> Vec<u32> {
    let counts = space.value_counts().iter();
    counts
        .zip(numbers)
        .map(|(&count, number)| number.round().clamp(0.0, f64::from(count - 1)) as u32)
        .collect()
}

/// The positions of a config, as numbers.
fn numbers(space: &dyn SpaceView, index: usize) -> Vec<f64> {
    space.positions(index).into_iter().map(f64::from).collect()
}
