//! A run: lists its tasks, and for each task searches, evaluates configs and decides.
//!
//! The main flow is in [`pipeline`].

pub mod agenda;
pub mod budget;
pub mod cases;
pub mod clock;
pub mod context;
mod cost;
pub mod decide;
pub mod dry_run;
pub mod earlier;
mod error;
pub mod evaluate;
pub mod interrupted;
pub mod observer;
mod options;
pub mod own_trials;
pub mod pipeline;
pub(crate) mod proposals;
mod pulled;
mod references;
pub mod report;
mod searching;
mod series;
pub mod space_view;
mod trials;
pub mod tuning;
pub mod turns;
mod verifying;

pub use error::ForeignRecording;
pub use options::RunOptions;
