//! Uniform samples of valid configs, for spaces whose exact graph exceeds its budget.
//!
//! 1. `leave_out`: if a component is too large, builds it without some of its constraints. All other components stay
//!    exact. The result is a [`RelaxedSet`], a superset of the valid configs in which each config has an index.
//! 2. `checks`: evaluates the left-out constraints for one config. A random config of the superset that satisfies
//!    them is a uniform sample of the valid configs.
//! 3. `listed`: draws distinct samples and numbers them, as a [`ListedSet`]. `estimate`: estimates the number of
//!    valid configs.

mod checks;
mod draws;
mod estimate;
mod leave_out;
mod listed;
mod relaxed;
#[cfg(test)]
mod tests;

pub use estimate::Estimate;
pub use listed::{ListedSet, SampleSize};
pub use relaxed::RelaxedSet;
