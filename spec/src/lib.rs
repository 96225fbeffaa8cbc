//! The pure part of Kiln: what a kernel *is* (spec, search space, generated entries, hashes, baked
//! tables), with no device, file system or process in it.
//!
//! The macro (`kiln-macros`), the command line (`kiln-tuner`) and the runtime (`kiln`) all speak of a
//! kernel through these types. The grammar and the table text need the feature `parse`; a deployed
//! program does not carry it.
#![forbid(unsafe_code)]

#[cfg(feature = "parse")]
pub mod baked;
pub mod cache_folder;
#[cfg(feature = "parse")]
pub mod check;
pub mod codegen;
pub mod config;
pub mod csp;
pub mod device;
#[cfg(feature = "parse")]
pub mod diagnostic;
pub mod expr;
pub mod hash;
pub mod limits;
pub mod model;
pub mod occupancy;
#[cfg(feature = "parse")]
pub mod parse;
pub mod plan;
pub mod prelude;
pub mod problem;
pub mod selection;
pub mod source;
pub mod space;
pub mod spelling;
pub mod targets;
#[cfg(test)]
mod testing;
mod text;
pub mod time;
pub mod validity;

pub use config::{Config, ParamValue};
pub use device::{Backend, DeviceKey, DeviceKeyError, UnknownBackend};
pub use expr::{EvalError, Expr, Scope, Value};
pub use hash::{ConfigHash, Hash, NotAHash, SourceHash, SpecHash};
pub use limits::{DeviceLimit, DeviceLimits};
pub use model::*;
pub use plan::{LaunchPlan, PlanError};
pub use problem::{Problem, ProblemValue};
pub use text::TextError;
pub use validity::Invalid;
