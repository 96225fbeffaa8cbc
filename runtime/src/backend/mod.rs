//! The devices that Kiln launches on, one folder each.

pub(crate) mod batch;
pub mod cpu;
pub mod cuda;
pub mod fake;
pub mod hip;
mod recorded_streams;
pub(crate) mod shared_library;
