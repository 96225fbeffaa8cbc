//! Uniform samples of valid configs, for spaces whose exact graph exceeds its budget. They are created in three steps:
//!
//! 1. `leave_out`: build components that are too large without some of their constraints. All other components stay
//!    exact. The result is a [`RelaxedSet`]: a superset of the valid configs, in which each config has an index.
//! 2. `checks`: evaluate the left-out constraints for a random config of the superset. If the config satisfies them, it
//!    is a uniform sample of the valid configs.
//! 3. `listed`: draw distinct samples and number them, as a [`ListedSet`]. `estimate`: estimate the number of valid
//!    configs.

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
