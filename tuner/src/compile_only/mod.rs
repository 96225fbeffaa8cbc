//! Work for targets that this machine does not have: a compiler without a device, and the limits of the target table
//! in place of a driver's. Its results are not measurements: they say what compiles and what can be launched.

mod check;
mod error;
pub mod inspect;
mod profile;
pub mod profile_table;
mod report;
mod target;

pub use check::{CheckOptions, check};
pub use error::TargetError;
pub use profile::Profiled;
pub use report::{CheckReport, TaskCheck};
pub use target::{CompileTarget, Missing, PRODUCT, names, open_all};
