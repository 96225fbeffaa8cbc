//! Compiles and inspects configs for targets that this machine does not have. The compilers work without a device, and
//! the limits come from the target table instead of a driver. The results are not measurements: they show what compiles
//! and what can be launched.

mod check;
mod error;
mod first;
pub mod inspect;
mod profile;
pub mod profile_table;
mod report;
mod target;

pub use check::{CheckOptions, check};
pub use error::TargetError;
pub use first::{FIRST, FirstConfigs, first_summary};
pub use profile::Profiled;
pub use report::{CheckReport, TaskCheck};
pub use target::{CompileTarget, Missing, PRODUCT, names, open_all};
