//! [`LaunchError`] and its causes.

use std::fmt;

use kiln_spec::{EvalError, Invalid, PlanError};
use thiserror::Error;

use crate::device::error::DeviceError;
use crate::prepare::error::PrepareError;
use crate::selection::Choice;

/// The error of a launch function.
///
/// Nothing was launched, unless the cause is [`LaunchCause::Device`].
#[derive(Clone, Debug)]
pub struct LaunchError {
    kernel: &'static str,
    cause: Box<LaunchCause>,
}

impl LaunchError {
    #[cold]
    pub(crate) fn new(kernel: &'static str, cause: impl Into<LaunchCause>) -> LaunchError {
        LaunchError {
            kernel,
            cause: Box::new(cause.into()),
        }
    }

    /// The kernel's name.
    pub fn kernel(&self) -> &'static str {
        self.kernel
    }

    /// The cause of the error.
    pub fn cause(&self) -> &LaunchCause {
        &self.cause
    }
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}`: {}", self.kernel, self.cause)
    }
}

impl std::error::Error for LaunchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.cause {
            LaunchCause::Device(error) => Some(error),
            LaunchCause::Prepare(error) => Some(error),
            LaunchCause::Plan(error) => Some(error),
            _ => None,
        }
    }
}

/// The cause of a [`LaunchError`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LaunchCause {
    /// A slice does not have the declared length for these sizes.
    #[error("`{argument}` has {found} elements, but `#[len({len})]` is {expected} here")]
    Length {
        /// The name of the argument.
        argument: String,
        /// The declared length, as the spec writes it.
        len: String,
        /// The value of the declared length for these sizes, in elements.
        expected: u64,
        /// The length of the slice, in elements.
        found: u64,
    },
    /// A slice does not have the alignment that the config needs.
    #[error(
        "`{argument}` at address {address:#x} is not aligned to {align_bytes} bytes, which the config's vector loads \
         need\n\
         help: pass a whole buffer, or a view that starts at a multiple of {align_bytes} bytes"
    )]
    Alignment {
        /// The name of the argument.
        argument: String,
        /// The slice's address.
        address: u64,
        /// The required alignment in bytes.
        align_bytes: u64,
    },
    /// An alignment in the spec evaluates to a number of bytes that is not a power of two.
    #[error("`#[align({align})]` of `{argument}` is {bytes} bytes, which is not a power of two")]
    BadAlignment {
        /// The name of the argument.
        argument: String,
        /// The alignment, as the spec writes it.
        align: String,
        /// The value of the alignment, in bytes.
        bytes: i128,
    },
    /// A slice is in the memory of a device other than the stream's device.
    #[error(
        "`{argument}` is in the memory of device {found}, but the stream is of device {expected}"
    )]
    OtherDevice {
        /// The name of the argument.
        argument: String,
        /// The index of the stream's device.
        expected: u32,
        /// The index of the slice's device.
        found: u32,
    },
    /// A slice is memory of another library that was borrowed for another stream.
    #[error(
        "`{argument}` is memory of another library, lent to another stream\n\
         help: make the slice with the stream that the launch is on"
    )]
    OtherStream {
        /// The name of the argument.
        argument: String,
    },
    /// A problem size exceeds 63 bits.
    #[error("`{argument}` is beyond 9223372036854775807")]
    SizeTooLarge {
        /// The name of the argument.
        argument: String,
    },
    /// An alignment cannot be evaluated for these sizes.
    #[error("`{argument}`: {error}")]
    Eval {
        /// The name of the argument.
        argument: String,
        /// The reason why it cannot be evaluated.
        error: EvalError,
    },
    /// The sizes have no launch plan (grid, block and shared memory), the plan exceeds a limit of the device, or a
    /// slice length or a computed argument cannot be evaluated for these sizes.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// No row can be launched for these sizes, and a constraint of the spec excludes the baseline too.
    #[error(
        "no config may be launched for {problem}; the baseline: {invalid}\n\
         help: launch sizes that the constraints allow, or give the kernel a baseline for all sizes (`baseline(entry = \"..\")`)"
    )]
    NoValidConfig {
        /// The sizes of the launch.
        problem: String,
        /// Why the baseline may not be launched.
        invalid: Box<Invalid>,
    },
    /// A constraint of the spec excludes the choice that the stream forces.
    #[error(
        "{choice} is forced, but it may not be launched for {problem}: {invalid}\n\
         help: launch on a stream without the forced choice, which selects a valid config"
    )]
    InvalidForced {
        /// The forced choice.
        choice: Choice,
        /// The sizes of the launch.
        problem: String,
        /// Why the choice may not be launched.
        invalid: Box<Invalid>,
    },
    /// The kernel could not be compiled or loaded.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// The device refused the launch, or it reported an error of an earlier launch.
    #[error(transparent)]
    Device(#[from] DeviceError),
}
