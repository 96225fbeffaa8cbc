//! The classic strategies: one algorithm per file, all run by the same code.
//!
//! Each follows its textbook: a state that proposes a config and learns its cost. A proposal that was
//! tried before costs nothing: its result is known, and the algorithm continues with it.

mod algorithm;
mod annealing;
mod differential_evolution;
mod genetic;
mod latin_hypercube;
mod local_search;
mod particle_swarm;
mod positions;
mod runner;
mod tabu;

pub use algorithm::Algorithm;
pub use annealing::Annealing;
pub use differential_evolution::DifferentialEvolution;
pub use genetic::Genetic;
pub use latin_hypercube::LatinHypercube;
pub use local_search::LocalSearch;
pub use particle_swarm::ParticleSwarm;
pub use runner::Classic;
pub use tabu::Tabu;
