//! The device backends, one folder each.

pub(crate) mod batch;
mod constants;
pub mod cpu;
pub mod cuda;
#[cfg(feature = "testing")]
pub mod fake;
pub(crate) mod filler;
pub(crate) mod freed;
pub(crate) mod gpu;
pub(crate) mod gpu_memory;
pub mod hip;
pub(crate) mod recorded_streams;
pub(crate) mod recording;
pub(crate) mod shared_library;
pub(crate) mod timer;
pub(crate) mod unfit_artifact;
