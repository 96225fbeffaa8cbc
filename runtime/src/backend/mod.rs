//! The device backends. Each backend has its own folder.

#[cfg(any(feature = "testing", feature = "sim"))]
pub(crate) mod arguments;
pub mod cpu;
pub mod cuda;
#[cfg(feature = "testing")]
pub mod fake;
pub(crate) mod gpu;
pub mod hip;
mod python;
pub(crate) mod shared_library;
#[cfg(feature = "sim")]
pub mod sim;
pub(crate) mod unfit_artifact;
