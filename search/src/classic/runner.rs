//! The strategy that runs a classic algorithm.

use std::collections::VecDeque;

use rand_chacha::ChaCha8Rng;

use super::algorithm::Algorithm;
use crate::ledger::TrialLedger;
use crate::space::SpaceView;
use crate::strategy::{Strategy, Told};

/// After this many generations in a row that contain only configs that were tried before, a random config is tried.
const MAX_KNOWN: usize = 100;

/// A strategy that runs a classic algorithm.
pub struct Classic<'a, A> {
    algorithm: A,
    space: &'a dyn SpaceView,
    rng: ChaCha8Rng,
    ledger: TrialLedger,
    /// The configs that the algorithm proposed last.
    generation: Vec<usize>,
    /// The configs of the generation that [`ask`](Strategy::ask) has not returned yet.
    open: VecDeque<usize>,
    idle: usize,
}

impl<'a, A: Algorithm> Classic<'a, A> {
    /// Creates a strategy that runs `algorithm` on `space`.
    pub fn new(algorithm: A, space: &'a dyn SpaceView, mut rng: ChaCha8Rng) -> Self {
        Self {
            ledger: TrialLedger::new(space.len(), &mut rng),
            algorithm,
            space,
            rng,
            generation: Vec::new(),
            open: VecDeque::new(),
            idle: 0,
        }
    }

    /// Requests generations from the algorithm until one has an untried config. Returns early if a result of the
    /// current generation is missing.
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
            if self.idle >= MAX_KNOWN || self.generation.is_empty() {
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
            // `ask` returns false for a random config, because the ledger marked it as asked when it was drawn. Such a
            // config can be recognised because it is not in the generation.
            if self.ledger.ask(index) || !self.generation.contains(&index) {
                asked.push(index);
            }
        }
        if asked.is_empty() {
            // Results of the generation are missing. Try random configs until they arrive.
            asked = self.ledger.strays(n);
        }
        asked
    }

    fn tell(&mut self, told: &[Told]) {
        self.ledger.tell(told);
    }
}
