//! Launch GPU kernels with configs that were tuned once and baked in at build time.

pub mod compiler;
pub mod device;
pub mod error;
