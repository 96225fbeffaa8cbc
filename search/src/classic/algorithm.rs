//! The interface of the classic algorithms.

use rand_chacha::ChaCha8Rng;

use crate::space::SpaceView;

/// A textbook algorithm that tries configs one after another, or one generation after another.
pub trait Algorithm {
    /// The name of the algorithm, one of [`NAMES`](crate::NAMES).
    fn name(&self) -> &'static str;

    /// Returns the configs to try next; empty if it has no proposal.
    fn propose(&mut self, space: &dyn SpaceView, rng: &mut ChaCha8Rng) -> Vec<usize>;

    /// Receives the costs of all configs that [`propose`](Self::propose) returned last, in the same order. The cost of
    /// a failed config is infinite.
    fn learn(&mut self, costs: &[(usize, f64)], space: &dyn SpaceView, rng: &mut ChaCha8Rng);
}
