//! The interface of a strategy, which proposes configs and receives their results.

/// The result of a config.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told {
    /// Index of the config in its search space.
    pub index: usize,
    /// The cost, a positive number; lower is better. An example is the time divided by that of the baseline. `None`
    /// if the config failed.
    pub cost: Option<f64>,
}

/// A search strategy, which decides which configs to try next.
///
/// The caller alternates between `ask` and `tell`. A strategy never returns a config twice. It also never returns a
/// config whose result it was told without asking, such as a stored trial or the baseline. A strategy is
/// deterministic: with the same seed and the same sequence of calls, it returns the same configs.
pub trait Strategy {
    /// The name of the strategy, one of [`NAMES`](super::NAMES).
    fn name(&self) -> &'static str;

    /// Returns the indices of at most `n` configs to try next. It returns fewer if the strategy needs results first,
    /// and none if it has returned the whole space.
    fn ask(&mut self, n: usize) -> Vec<usize>;

    /// Receives results, in any order and number. They may be of configs that `ask` did not return.
    fn tell(&mut self, told: &[Told]);

    /// The highest expected improvement of a config when the strategy last chose one, as a share of the best cost.
    /// `None` if the strategy has no estimate.
    fn outlook(&self) -> Option<f64> {
        None
    }
}
