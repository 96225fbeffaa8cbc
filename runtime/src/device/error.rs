//! Errors of a device, by cause.

use std::fmt;

use kiln_spec::PlanError;
use kiln_spec::time::Nanoseconds;
use thiserror::Error;

/// Why a device could not do what it was asked to.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// A device, driver library or symbol is not there.
    #[error("{what} was not found: {text}")]
    NotFound {
        /// What was looked for.
        what: String,
        /// Where, or what the driver says.
        text: String,
    },
    /// There is not enough memory.
    #[error("out of memory: {wanted_bytes} bytes wanted, {text}")]
    Oom {
        /// Bytes asked for.
        wanted_bytes: u64,
        /// What is free, or what the driver says.
        text: String,
    },
    /// The plan of a launch exceeds a limit of the device.
    #[error("launch of `{symbol}` refused: {error}")]
    Plan {
        /// The kernel's symbol.
        symbol: String,
        /// The limit, and what exceeds it.
        error: PlanError,
    },
    /// A launch was refused for another reason than a limit; nothing ran.
    #[error("launch of `{symbol}` refused: {text}")]
    LaunchRefused {
        /// The kernel's symbol.
        symbol: String,
        /// Why.
        text: String,
    },
    /// The kernel reported its own failure (a barrier never reached, a trap); the device is still usable.
    #[error("kernel `{symbol}` failed: {text}")]
    KernelFault {
        /// The kernel's symbol.
        symbol: String,
        /// What it reported.
        text: String,
    },
    /// The process can no longer use the device (illegal address and its like).
    #[error("the device is unusable in this process: {text}")]
    Sticky {
        /// What the driver says.
        text: String,
    },
    /// A launch was not done by its deadline.
    #[error("`{symbol}` was not done after {}", Nanoseconds(*after_ns))]
    Hang {
        /// The kernel's symbol.
        symbol: String,
        /// The deadline, in nanoseconds.
        after_ns: u64,
    },
    /// The device answers no more.
    #[error("the device is lost: {text}")]
    Lost {
        /// What the driver says.
        text: String,
    },
    /// The device cannot do this at all.
    #[error("{what} is not supported")]
    Unsupported {
        /// What was asked for.
        what: String,
    },
    /// The value of an environment variable, or a file that describes a device, is not valid.
    #[error("{what} is {problem}\nhelp: {help}")]
    Setting {
        /// The variable or file.
        what: String,
        /// What is wrong with it.
        problem: String,
        /// What to do.
        help: String,
    },
    /// A byte range is not inside an allocation.
    #[error("bytes {offset} to {end} are outside an allocation of {size_bytes} bytes")]
    OutOfBounds {
        /// First byte.
        offset: usize,
        /// One past the last byte.
        end: usize,
        /// Size of the allocation.
        size_bytes: usize,
    },
    /// An artifact cannot be loaded on this device.
    #[error("the artifact cannot be loaded: {text}")]
    Load {
        /// Why.
        text: String,
    },
    /// A call of the system or driver failed that should not have.
    #[error("{what} failed: {text}")]
    Internal {
        /// The call.
        what: String,
        /// What the system says.
        text: String,
    },
}

/// The classes of failure that tuning tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorClass {
    /// The request itself was wrong.
    Invalid,
    /// Not enough memory: skip the candidate.
    Oom,
    /// The device refused the launch: skip the candidate.
    LaunchRefused,
    /// The process must be replaced.
    Sticky,
    /// The launch did not end: kill the process.
    Hang,
    /// The device must be given up.
    DeviceLost,
    /// The device has no such ability.
    Unsupported,
    /// Something is not installed.
    NotFound,
    /// A fault of Kiln or the system.
    Internal,
}

impl DeviceError {
    /// Its class.
    pub fn class(&self) -> ErrorClass {
        match self {
            DeviceError::NotFound { .. } => ErrorClass::NotFound,
            DeviceError::Oom { .. } => ErrorClass::Oom,
            DeviceError::Plan { .. } | DeviceError::LaunchRefused { .. } => {
                ErrorClass::LaunchRefused
            }
            DeviceError::KernelFault { .. }
            | DeviceError::OutOfBounds { .. }
            | DeviceError::Setting { .. }
            | DeviceError::Load { .. } => ErrorClass::Invalid,
            DeviceError::Sticky { .. } => ErrorClass::Sticky,
            DeviceError::Hang { .. } => ErrorClass::Hang,
            DeviceError::Lost { .. } => ErrorClass::DeviceLost,
            DeviceError::Unsupported { .. } => ErrorClass::Unsupported,
            DeviceError::Internal { .. } => ErrorClass::Internal,
        }
    }

    /// An [`DeviceError::Internal`] of a failed call.
    pub fn internal(what: &str, error: impl fmt::Display) -> DeviceError {
        DeviceError::Internal {
            what: what.into(),
            text: error.to_string(),
        }
    }
}
