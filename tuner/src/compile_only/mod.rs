//! Work for targets that are not at hand: a compiler without a device, and the target table's limits in place of a
//! driver's. What is found here is not a measurement: it says what compiles and what can be launched.

mod check;
mod error;
pub mod inspect;
mod report;
mod target;

pub use check::{CheckOptions, check};
pub use error::TargetError;
pub use report::{CheckReport, TaskCheck};
pub use target::{CompileTarget, Missing, PRODUCT, names, open_all};
