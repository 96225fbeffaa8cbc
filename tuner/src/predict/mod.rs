//! Predicts configs for GPUs that were never measured. An analytic model ranks the configs by facts that are known at
//! compile time.
//!
//! The model uses the launch plan, the declared work and, for compiled configs, their registers and spills. It does not
//! depend on kernel names. The model is tested before it is used: [`judge`] scores the model on measurements of the
//! same kernel on the GPUs in the target table. The model makes no predictions for a kernel on which it is not better
//! than random order, or for which there are too few measurements.
//!
//! The model's choices are baked only on request, as rows with the evidence `predicted` and without a speed-up. A
//! program uses such rows only if the kernel's spec accepts that evidence.

mod bake;
mod facts;
mod gate;
mod model;
mod rank;
mod score;

pub use bake::{Prediction, bake_untuned};
pub use facts::Facts;
pub use gate::{Judged, MIN_TRIALS, Refusal, judge, offered};
pub use model::{Bound, TimeEstimate, estimate};
pub use rank::rank;
pub use score::Score;
