//! [`Error`], one type for all errors of this crate.

use std::fmt;

use kiln_spec::{PlanError, TextError};
use thiserror::Error as ErrorTrait;

use crate::compiler::error::CompileError;
use crate::data::arg_data::DataError;
use crate::device::error::DeviceError;
use crate::launch::error::LaunchError;
use crate::prepare::error::PrepareError;
use crate::receipt::ReceiptMismatch;
use crate::rig::RigError;

/// Any error of this crate, for programs that propagate errors with `?` and do not distinguish them.
///
/// Functions of this crate return specific errors, so callers can match on them. Each specific error converts into this
/// type. `Display` and [`source`](std::error::Error::source) delegate to the specific error. It is boxed, which keeps
/// `Result`s small.
///
/// ```no_run
/// fn main() -> Result<(), kiln::Error> {
///     let stream = kiln::Device::cuda(0)?.stream();
///     let x = kiln::Buffer::from_slice(&stream, &[1.0_f32, 2.0])?;
///     println!("{:?}", x.to_vec(&stream)?);
///     Ok(())
/// }
/// ```
#[derive(ErrorTrait)]
#[error(transparent)]
#[non_exhaustive]
pub enum Error {
    /// A device does not exist or could not do what was requested.
    Device(Box<DeviceError>),
    /// A launch function failed to launch its kernel.
    Launch(Box<LaunchError>),
    /// A kernel could not be prepared for launching.
    Prepare(Box<PrepareError>),
    /// A compiler was not found, or it failed.
    Compile(Box<CompileError>),
    /// A problem has no launch plan (grid, block and shared memory), for example because an extent of the grid is zero.
    Plan(Box<PlanError>),
    /// A text does not name a valid problem or config of the kernel.
    Text(Box<TextError>),
    /// The arguments of a launch cannot be generated for a problem.
    Data(Box<DataError>),
    /// A launch under test failed, or its outputs were wrong.
    Rig(Box<RigError>),
    /// A receipt (the record that the device itself writes about a launch) does not match the intended launch.
    Receipt(Box<ReceiptMismatch>),
}

macro_rules! from {
    ($($variant:ident($cause:ty)),*) => {$(
        impl From<$cause> for Error {
            fn from(cause: $cause) -> Error {
                Error::$variant(Box::new(cause))
            }
        }
    )*};
}

from!(
    Device(DeviceError),
    Launch(LaunchError),
    Prepare(PrepareError),
    Compile(CompileError),
    Plan(PlanError),
    Text(TextError),
    Data(DataError),
    Rig(RigError),
    Receipt(ReceiptMismatch)
);

/// Prints the same text as `Display`, because `fn main() -> Result<(), kiln::Error>` reports errors with `Debug`.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_reads_as_its_cause_and_can_be_sent_to_another_thread() {
        fn assert_bounds<E: std::error::Error + Send + Sync + 'static>(_: &E) {}
        let cause = DeviceError::Unsupported {
            what: "a toaster".into(),
        };
        let error = Error::from(cause.clone());
        assert_bounds(&error);
        assert_eq!(error.to_string(), cause.to_string());
        assert_eq!(format!("{error:?}"), cause.to_string());
    }
}
