#![doc = include_str!("../README.md")]

pub mod auto;
pub mod classic;
pub mod exhaustive;
pub mod guide;
pub mod ledger;
mod model;
pub mod permutation;
pub mod prior;
pub mod random;
pub mod regression;
pub mod space;
pub mod stop;
pub mod strategy;

#[cfg(test)]
mod tests;

pub use auto::Auto;
pub use exhaustive::Exhaustive;
pub use guide::Guide;
pub use model::{Settings, UnknownSetting};
pub use prior::Prior;
pub use random::Random;
pub use regression::Regression;
pub use space::{SpaceView, neighbours};
pub use stop::Stop;
pub use strategy::{Strategy, Told};

use self::classic::{
    Annealing, Classic, DifferentialEvolution, Genetic, LatinHypercube, LocalSearch, ParticleSwarm,
    Tabu,
};
use rand_chacha::ChaCha8Rng;
use thiserror::Error;

/// The names of all strategies, which [`by_name`] accepts.
pub const NAMES: [&str; 10] = [
    "auto",
    "annealing",
    "differential-evolution",
    "exhaustive",
    "genetic",
    "latin-hypercube",
    "local-search",
    "particle-swarm",
    "random",
    "tabu",
];

/// There is no strategy with the requested name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no strategy is named `{name}`; the strategies are {}", NAMES.join(", "))]
pub struct UnknownStrategy {
    /// The requested name.
    pub name: String,
}

/// If the budget covers the whole space, `auto` tries all configs. In a space of at most this many configs, a model
/// chooses the order, because time may run out first. In a larger space, the order is random.
const ORDERED: usize = 2_000;

/// Creates a strategy by its name, one of [`NAMES`]. `budget` is the maximum number of configs that the caller will
/// try. If the budget covers the whole space, `auto` tries all configs.
///
/// # Errors
/// [`UnknownStrategy`] if there is no strategy with this name.
pub fn by_name<'a>(
    name: &str,
    space: &'a dyn SpaceView,
    budget: usize,
    rng: ChaCha8Rng,
) -> Result<Box<dyn Strategy + 'a>, UnknownStrategy> {
    with_guide(name, space, budget, rng, &Guide::default())
}

/// Creates a strategy by its name, like [`by_name`]. `guide` holds the constants of the model, and the results of
/// earlier searches for the same kernel. Only `auto` uses it.
///
/// # Errors
/// [`UnknownStrategy`] if there is no strategy with this name.
pub fn with_guide<'a>(
    name: &str,
    space: &'a dyn SpaceView,
    budget: usize,
    rng: ChaCha8Rng,
    guide: &Guide,
) -> Result<Box<dyn Strategy + 'a>, UnknownStrategy> {
    Ok(match name {
        "auto" if space.len() <= budget && space.len() <= ORDERED => {
            Box::new(Auto::exhausting(space, rng, guide))
        }
        "auto" if space.len() <= budget => Box::new(Exhaustive::new(space.len(), rng)),
        "exhaustive" => Box::new(Exhaustive::new(space.len(), rng)),
        "auto" => Box::new(Auto::new(space, rng, guide)),
        "annealing" => Box::new(Classic::new(Annealing::new(budget), space, rng)),
        "differential-evolution" => {
            Box::new(Classic::new(DifferentialEvolution::default(), space, rng))
        }
        "genetic" => Box::new(Classic::new(Genetic::default(), space, rng)),
        "latin-hypercube" => Box::new(Classic::new(LatinHypercube, space, rng)),
        "local-search" => Box::new(Classic::new(LocalSearch::default(), space, rng)),
        "particle-swarm" => Box::new(Classic::new(ParticleSwarm::default(), space, rng)),
        "random" => Box::new(Random::new(space.len(), rng)),
        "tabu" => Box::new(Classic::new(Tabu::default(), space, rng)),
        _ => {
            return Err(UnknownStrategy {
                name: name.to_owned(),
            });
        }
    })
}
