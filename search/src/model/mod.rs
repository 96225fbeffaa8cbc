//! A statistical model of the costs and failures of untried configs. It consists of Gaussian processes whose
//! covariance is a product over the features of a config.

mod covariance;
mod extension;
mod factor;
mod feature;
mod fit;
mod process;
mod promise;
mod settings;
mod shape;

pub(super) use extension::Extension;
pub(super) use feature::{Encoder, FeaturePoint};
pub(super) use fit::improve;
pub(super) use process::{Candidates, Process};
pub(super) use promise::{Belief, below, log_promise, log_promise_bound};
pub use settings::{Settings, UnknownSetting};
pub(super) use shape::Shape;
