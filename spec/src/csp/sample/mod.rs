//! Uniform samples of valid configs, for spaces whose exact graph does not fit its budget.
//!
//! 1. `leave_out`: a component that is too large is built without some of its constraints; all others stay exact. The
//!    result is a [`RelaxedSet`], a superset of the valid configs that can be indexed.
//! 2. `checks`: the constraints left out, evaluated for one config. A random config of the superset that satisfies
//!    them is a uniform sample of the valid ones.
//! 3. `listed`: distinct samples, numbered: a [`ListedSet`]. `estimate`: the number of valid configs.

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
