//! The pure part of Kiln: what a kernel *is* (spec, search space, generated entries, hashes, baked tables), without
//! devices, file systems or processes.
//!
//! The macro (`kiln-macros`), the command line (`kiln-tuner`) and the runtime (`kiln`) all describe a kernel with
//! these types. The grammar and the table format need the feature `parse`, which a deployed program does not enable.
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
