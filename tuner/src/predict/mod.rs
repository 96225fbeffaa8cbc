//! A first guess for targets that were never measured: configs ranked by an analytic model of compile-time facts.
//!
//! The model knows a launch plan, the declared work, and, where a config was compiled, its registers and spills; it
//! knows no kernel by name. It is a guess, so it is judged before it is used: for a kernel whose measurements on other
//! GPUs it does not order better than chance, [`gate`](judge) offers nothing. What it picks is baked only on request, as
//! rows of evidence `predicted`, without a speed-up, and used only where a spec accepts that evidence.

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
