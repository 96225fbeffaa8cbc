//! Latin-hypercube sampling. In each round, the values of every parameter are spread evenly over the configs, in
//! random order.

use super::algorithm::Algorithm;
use super::positions::repaired;
use crate::SpaceView;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Number of configs in a round.
const ROUND: u32 = 20;

/// Latin-hypercube sampling.
#[derive(Clone, Debug, Default)]
pub struct LatinHypercube;

impl Algorithm for LatinHypercube {
    fn name(&self) -> &'static str {
        "latin-hypercube"
    }

    fn propose(&mut self, space: &dyn SpaceView, rng: &mut ChaCha8Rng) -> Vec<usize> {
        let column = |&count: &u32, rng: &mut ChaCha8Rng| {
            let mut column: Vec<u32> = (0..ROUND).map(|row| row * count / ROUND).collect();
            column.shuffle(rng);
            column
        };
        let columns: Vec<Vec<u32>> = space
            .value_counts()
            .iter()
            .map(|count| column(count, rng))
            .collect();
        let row = |row: usize| columns.iter().map(|column| column[row]).collect();
        (0..ROUND as usize)
            .map(|place| repaired(space, row(place), rng))
            .collect()
    }

    fn learn(&mut self, _: &[(usize, f64)], _: &dyn SpaceView, _: &mut ChaCha8Rng) {}
}
