//! Searches on recorded spaces: what a strategy would have found, without a device.

mod bake;
mod error;
pub mod pairs;
mod run;
pub mod sweep;
pub mod transfer;

#[cfg(test)]
mod tests;

pub use bake::{ReplayBakeReport, ReplayedProblem, ToBake, bake, check};
pub use error::{ParamDifference, ReplayError};
pub use run::{ReplayPlan, replay};
