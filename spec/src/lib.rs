//! Describes kernels as plain data: specs, search spaces, generated entries, hashes and baked tables. This crate
//! opens no device, reads no file and starts no process.
//!
//! The macro (`kiln-macros`), the command line (`kiln-tuner`) and the runtime (`kiln`) all use these types for kernels.
//! The grammar and the table format need the feature `parse`, which deployed programs do not enable.
#![forbid(unsafe_code)]

#[cfg(feature = "parse")]
pub mod baked;
pub mod cache_folder;
#[cfg(feature = "parse")]
pub mod check;
pub mod codegen;
pub mod config;
#[cfg(feature = "space")]
pub mod csp;
pub mod device;
pub mod expr;
pub mod hash;
pub mod kernel_limits;
pub mod model;
#[cfg(feature = "parse")]
pub mod parse;
pub mod plan;
pub mod problem;
pub mod selection;
pub mod source;
#[cfg(feature = "space")]
pub mod space;
pub mod targets;
#[cfg(test)]
mod testing;
mod text;
mod unlaunchable;
pub mod verification;

#[doc(inline)]
pub use codegen::prelude;
#[doc(inline)]
pub use config::validity;
#[doc(inline)]
pub use device::limits;
#[doc(inline)]
pub use targets::occupancy;
#[cfg(feature = "parse")]
pub use text::diagnostic;
pub use text::{spelling, time};

pub use config::validity::Invalid;
pub use config::{Config, ParamValue};
pub use device::limits::{DeviceLimit, DeviceLimits};
pub use device::{Backend, DeviceKey, DeviceKeyError, UnknownBackend};
pub use expr::{EvalError, Expr, Scope, Value};
pub use hash::{ConfigHash, Hash, NotAHash, SourceHash, SpecHash};
pub use kernel_limits::{Cluster, KernelLimits};
pub use model::*;
pub use plan::{LaunchPlan, PlanError};
pub use problem::{Problem, ProblemValue};
pub use text::TextError;
pub use unlaunchable::Unlaunchable;
