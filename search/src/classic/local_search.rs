//! Local search with restarts. Starting from a random config, it moves to the first better neighbour until no neighbour
//! is better, and then restarts from another random config.

use super::algorithm::Algorithm;
use super::positions::anywhere;
use crate::{SpaceView, neighbours};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Local search with restarts.
#[derive(Clone, Debug, Default)]
pub struct LocalSearch {
    here: Option<(usize, f64)>,
    /// The neighbours of the current config that were not tried yet.
    around: Vec<usize>,
}

impl Algorithm for LocalSearch {
    fn name(&self) -> &'static str {
        "local-search"
    }

    fn propose(&mut self, space: &dyn SpaceView, rng: &mut ChaCha8Rng) -> Vec<usize> {
        if self.here.is_some() && self.around.is_empty() {
            self.here = None;
        }
        vec![self.around.pop().unwrap_or_else(|| anywhere(space, rng))]
    }

    fn learn(&mut self, costs: &[(usize, f64)], space: &dyn SpaceView, rng: &mut ChaCha8Rng) {
        for &(index, cost) in costs {
            if self.here.is_none_or(|here| cost < here.1) {
                self.here = cost.is_finite().then_some((index, cost));
                self.around = if cost.is_finite() {
                    neighbours(space, index)
                } else {
                    Vec::new()
                };
                self.around.shuffle(rng);
            }
        }
    }
}
