//! The strategy that tries every config of the space.

use super::random::Random;
use super::strategy::{Strategy, Told};
use rand_chacha::ChaCha8Rng;

/// Tries every config once, in random order. If the budget ends early, the tried configs are therefore a random sample,
/// not a corner of the space.
#[derive(Clone, Debug)]
pub struct Exhaustive {
    order: Random,
}

impl Exhaustive {
    /// Creates the strategy for a space of `len` configs.
    pub fn new(len: usize, rng: ChaCha8Rng) -> Self {
        Self {
            order: Random::new(len, rng),
        }
    }
}

impl Strategy for Exhaustive {
    fn name(&self) -> &'static str {
        "exhaustive"
    }

    fn ask(&mut self, n: usize) -> Vec<usize> {
        self.order.ask(n)
    }

    fn tell(&mut self, told: &[Told]) {
        self.order.tell(told);
    }
}
