//! Searches recorded spaces instead of devices. This shows what a strategy would find on the recorded device.

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
