//! Describes search spaces for people and programs: the number of configs, the effect of each constraint, and samples
//! of spaces that are too large to enumerate.

pub mod definition;
mod error;
pub mod kernel;
pub mod listed;

pub use error::NoExactCount;
