//! T1 files: search spaces in the format of the FAIR auto-tuning papers. Their values and conditions are Python
//! expressions.

mod error;
mod kernel;
pub(crate) mod read;
mod write;

pub use error::T1Error;
pub use kernel::kernel_as_t1;
