//! Searches on recorded spaces: what a strategy would have found, with no device at hand.

mod bake;
mod run;
pub mod transfer;

#[cfg(test)]
mod tests;

pub use bake::{Replayed, Report, bake, check};
pub use run::{Plan, replay};
