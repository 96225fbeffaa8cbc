//! The device backends, one folder each.

pub mod cpu;
pub mod cuda;
#[cfg(feature = "testing")]
pub mod fake;
pub(crate) mod gpu;
pub mod hip;
pub(crate) mod shared_library;
pub(crate) mod unfit_artifact;
