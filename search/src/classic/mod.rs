//! The classic strategies. Each file contains one algorithm; `runner.rs` runs all of them.
//!
//! Each algorithm follows its textbook: it proposes configs and learns their costs. If a proposed config was already
//! tried, the algorithm gets the known result, and the proposal does not use up budget.

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
