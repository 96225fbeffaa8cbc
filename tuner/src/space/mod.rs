//! Search spaces for people and programs: counts, the effect of each constraint, samples of spaces that are too
//! large.

pub mod definition;
mod error;
pub mod kernel;
pub mod listed;

pub use error::NoExactCount;
