//! [`DeviceError`] and the classes of failures.

use std::fmt;

use kiln_spec::PlanError;
use kiln_spec::time::Nanoseconds;
use thiserror::Error;

/// Why a device could not do what was requested.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// A device, driver library or symbol does not exist.
    #[error("{what} was not found: {text}")]
    NotFound {
        /// The missing device, library or symbol.
        what: String,
        /// The places that were searched, or the driver's message.
        text: String,
    },
    /// There is not enough memory.
    #[error("out of memory: {wanted_bytes} bytes wanted, {text}")]
    Oom {
        /// Requested size in bytes.
        wanted_bytes: u64,
        /// The free memory, or the driver's message.
        text: String,
    },
    /// The launch plan (grid, block and shared memory) exceeds a limit of the device.
    #[error("launch of `{symbol}` refused: {error}")]
    Plan {
        /// The kernel's symbol.
        symbol: String,
        /// The limit, and what exceeds it.
        error: PlanError,
    },
    /// Kiln or the driver refused a launch, and nothing ran. If the plan exceeds a limit that Kiln checks, the error is
    /// [`DeviceError::Plan`] instead.
    #[error("launch of `{symbol}` refused: {text}")]
    LaunchRefused {
        /// The kernel's symbol.
        symbol: String,
        /// The reason.
        text: String,
    },
    /// The kernel reported a failure, such as a trap or a barrier that not all threads reach. The device is still
    /// usable.
    #[error("kernel `{symbol}` failed: {text}")]
    KernelFault {
        /// The kernel's symbol.
        symbol: String,
        /// The reported text.
        text: String,
    },
    /// The process can no longer use the device, for example after an access to an illegal address.
    #[error("the device is unusable in this process: {text}")]
    Sticky {
        /// The driver's message.
        text: String,
    },
    /// A launch did not end by its deadline.
    #[error("`{symbol}` was not done after {}", Nanoseconds(*after_ns))]
    Hang {
        /// The kernel's symbol.
        symbol: String,
        /// The deadline, in nanoseconds.
        after_ns: u64,
    },
    /// The device no longer responds.
    #[error("the device is lost: {text}")]
    Lost {
        /// The driver's message.
        text: String,
    },
    /// The device does not support the requested operation.
    #[error("{what} is not supported")]
    Unsupported {
        /// The requested operation.
        what: String,
    },
    /// An environment variable or a file configures a device with an invalid value.
    #[error("{what} is {problem}\nhelp: {help}")]
    Setting {
        /// The name of the variable or file.
        what: String,
        /// Why the value is invalid.
        problem: String,
        /// How to correct the setting.
        help: String,
    },
    /// A byte range is not inside an allocation.
    #[error("bytes {offset} to {end} are outside an allocation of {size_bytes} bytes")]
    OutOfBounds {
        /// The offset of the range's first byte.
        offset: usize,
        /// The offset one past the range's last byte.
        end: usize,
        /// Size of the allocation.
        size_bytes: usize,
    },
    /// An artifact cannot be loaded on this device.
    #[error("the artifact cannot be loaded: {text}")]
    Load {
        /// The reason.
        text: String,
    },
    /// A call of the system or of a driver failed unexpectedly.
    #[error("{what} failed: {text}")]
    Internal {
        /// The call that failed.
        what: String,
        /// The system's message.
        text: String,
    },
}

/// The classes of failures that tuning distinguishes, because it reacts to each class differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorClass {
    /// The request itself was invalid.
    Invalid,
    /// Not enough memory: skip the candidate.
    Oom,
    /// The device refused the launch: skip the candidate.
    LaunchRefused,
    /// The process can no longer use the device and must be replaced.
    Sticky,
    /// The launch did not end: the process must be killed.
    Hang,
    /// The device can no longer be used.
    DeviceLost,
    /// The device does not support the operation.
    Unsupported,
    /// Something that is required is not installed.
    NotFound,
    /// A fault of Kiln or of the system.
    Internal,
}

impl DeviceError {
    /// The class of this error.
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

    /// A [`DeviceError::Internal`] for a failed call.
    pub fn internal(what: &str, error: impl fmt::Display) -> DeviceError {
        DeviceError::Internal {
            what: what.into(),
            text: error.to_string(),
        }
    }
}
