//! Predictions for targets that were never measured: configs ranked by an analytic model of compile-time facts.
//!
//! The model uses the launch plan, the declared work and, if a config was compiled, its registers and spills. It does
//! not know kernels by name. It is judged before it is used: [`gate`](judge) refuses a kernel if the model does not
//! order its measurements on other GPUs better than chance. Its choices are baked only on request, as rows with the
//! evidence `predicted` and without a speed-up, and are used only if a spec accepts that evidence.

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
