//! The classic strategies: one algorithm a file, all on the same ground.
//!
//! Each is written as its textbook has it, as a state that proposes a config and learns its cost. A proposal that was
//! tried before costs nothing: its result is known, and the algorithm goes on with it.

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
