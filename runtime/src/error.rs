//! [`Error`]: one type for all errors of this crate.

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

/// Any error of this crate, for programs that pass errors on with `?` and do not distinguish them.
///
/// Functions return the specific error, so that callers can match on it; each converts into this one. `Display` and
/// [`source`](std::error::Error::source) are those of the specific error, which is boxed to keep results small.
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
    /// A device does not exist, or could not do what was requested.
    Device(Box<DeviceError>),
    /// A launch function did not launch.
    Launch(Box<LaunchError>),
    /// A kernel could not be prepared for launching.
    Prepare(Box<PrepareError>),
    /// A compiler does not exist, or failed.
    Compile(Box<CompileError>),
    /// There is no launch plan for a problem.
    Plan(Box<PlanError>),
    /// A text is not a problem or a config of the kernel.
    Text(Box<TextError>),
    /// The data of a problem cannot be generated.
    Data(Box<DataError>),
    /// A verified launch failed, or produced wrong outputs.
    Rig(Box<RigError>),
    /// A receipt belongs to another launch.
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

/// `fn main() -> Result<(), kiln::Error>` prints errors with `Debug`, so this prints the text for users.
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
