//! The interface of a strategy: it proposes configs and is told their results.

/// The result of a config.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told {
    /// Index of the config in its search space.
    pub index: usize,
    /// Its cost, lower is better (time relative to the baseline, say); `None` if it failed.
    pub cost: Option<f64>,
}

/// Decides which configs to try next.
///
/// The caller alternates `ask` and `tell`. A strategy never asks for a config twice, nor for one it was told of without
/// asking (a stored trial, the baseline). Asked and told alike, with the same seed, it asks alike.
pub trait Strategy {
    /// The strategy's name, as in [`NAMES`](super::NAMES).
    fn name(&self) -> &'static str;

    /// At most `n` configs to try next, by their index; fewer if fewer are worth trying before
    /// results come in, and none once the whole space was asked for.
    fn ask(&mut self, n: usize) -> Vec<usize>;

    /// Takes results in, in any order and number, of configs asked for or not.
    fn tell(&mut self, told: &[Told]);

    /// The expected improvement of the config asked for last when it was chosen, as a share of the best cost; `None`
    /// if the strategy gives no estimate.
    fn outlook(&self) -> Option<f64> {
        None
    }
}
