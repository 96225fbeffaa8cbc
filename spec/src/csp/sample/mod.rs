//! Where the exact graph of a space does not fit its budget: uniform samples of its valid configs.
//!
//! 1. `leave_out`: a component that is too long is built without some of its constraints; all others stay exact. What
//!    comes out is a [`RelaxedSet`], a superset of the valid configs of which each is found by its index.
//! 2. `checks`: the constraints left out, evaluated for one config. A random config of the superset that meets them is a
//!    uniform sample of the valid ones.
//! 3. `listed`: distinct samples, numbered: a [`ListedSet`]. `estimate`: how many valid configs there are.

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
