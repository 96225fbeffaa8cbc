//! The interface of a classic algorithm.

use rand_chacha::ChaCha8Rng;

use crate::space::SpaceView;

/// A textbook algorithm that tries one config after another, or a generation at a time.
pub trait Algorithm {
    /// Its name, as in [`NAMES`](crate::NAMES).
    fn name(&self) -> &'static str;

    /// The configs to try next; empty if it has no proposal.
    fn propose(&mut self, space: &dyn SpaceView, rng: &mut ChaCha8Rng) -> Vec<usize>;

    /// Takes in the cost of every config it proposed, in the same order; infinite for those that failed.
    fn learn(&mut self, costs: &[(usize, f64)], space: &dyn SpaceView, rng: &mut ChaCha8Rng);
}
