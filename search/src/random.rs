//! Random sampling without replacement.

use super::permutation::Permutation;
use super::strategy::{Strategy, Told};
use rand_chacha::ChaCha8Rng;
use std::collections::HashSet;

/// Returns configs in random order, none twice. It stores no list of the returned configs. Its memory grows only with
/// the number of results that it is told for configs that it did not return.
#[derive(Clone, Debug)]
pub struct Random {
    order: Permutation,
    place: usize,
    told: HashSet<usize>,
}

impl Random {
    /// Creates the strategy for a space of `len` configs.
    pub fn new(len: usize, mut rng: ChaCha8Rng) -> Self {
        Self {
            order: Permutation::new(len, &mut rng),
            place: 0,
            told: HashSet::new(),
        }
    }

    fn next(&mut self) -> Option<usize> {
        loop {
            let index = self.order.at(self.place)?;
            self.place += 1;
            if !self.told.remove(&index) {
                return Some(index);
            }
        }
    }
}

impl Strategy for Random {
    fn name(&self) -> &'static str {
        "random"
    }

    fn ask(&mut self, n: usize) -> Vec<usize> {
        std::iter::from_fn(|| self.next()).take(n).collect()
    }

    fn tell(&mut self, told: &[Told]) {
        let unasked = told
            .iter()
            .map(|told| told.index)
            .filter(|&index| self.order.place_of(index) >= self.place);
        self.told.extend(unasked);
    }
}
