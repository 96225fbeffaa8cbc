//! Tabu search. It moves to the best of a few neighbours, even if that neighbour is worse, but not to a config that
//! it visited recently.

use super::algorithm::Algorithm;
use super::positions::anywhere;
use crate::{SpaceView, neighbours};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;

/// Number of neighbours that are tried before a move.
const LOOKED_AT: usize = 8;

/// Maximum number of visited configs that are remembered. A move to one of them is forbidden.
const MEMORY: usize = 64;

/// Tabu search.
#[derive(Clone, Debug, Default)]
pub struct Tabu {
    here: Option<usize>,
    forbidden: VecDeque<usize>,
}

impl Algorithm for Tabu {
    fn name(&self) -> &'static str {
        "tabu"
    }

    fn propose(&mut self, space: &dyn SpaceView, rng: &mut ChaCha8Rng) -> Vec<usize> {
        let mut around = self
            .here
            .map(|here| neighbours(space, here))
            .unwrap_or_default();
        around.retain(|index| !self.forbidden.contains(index));
        around.shuffle(rng);
        around.truncate(LOOKED_AT);
        if around.is_empty() {
            around.push(anywhere(space, rng));
        }
        around
    }

    fn learn(&mut self, costs: &[(usize, f64)], _: &dyn SpaceView, _: &mut ChaCha8Rng) {
        let valid = costs.iter().filter(|cost| cost.1.is_finite());
        self.here = valid
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|best| best.0)
            .or(self.here);
        self.forbidden.extend(self.here);
        self.forbidden.extend(
            costs
                .iter()
                .filter(|cost| cost.1.is_infinite())
                .map(|cost| cost.0),
        );
        while self.forbidden.len() > MEMORY {
            self.forbidden.pop_front();
        }
    }
}
