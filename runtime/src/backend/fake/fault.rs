//! The faults of a launch on the fake device.

use kiln_spec::PlanError;
use thiserror::Error;

/// Why a launch breaks the device.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum FakeFault {
    /// A receipt entry was launched without its last argument.
    #[error("a receipt entry has an argument")]
    NoReceipt,
    /// The address of a receipt is outside the device's memory.
    #[error("illegal access of a receipt at {address:#x}")]
    Receipt {
        /// The address.
        address: u64,
    },
    /// The address of an argument is outside the device's memory.
    #[error("illegal access of {bytes} bytes at {address:#x}")]
    Access {
        /// Number of bytes accessed.
        bytes: usize,
        /// The address.
        address: u64,
    },
    /// The reference needs a size that only the launch function receives.
    #[error("the fake device cannot run a kernel that does not get its size `{name}`")]
    NoSize {
        /// The size.
        name: String,
    },
    /// There are fewer arguments than the kernel has parameters.
    #[error("{passed} arguments were passed to a kernel of {takes}")]
    Arguments {
        /// Number of arguments of the launch.
        passed: usize,
        /// Number of parameters of the kernel.
        takes: usize,
    },
    /// A slice has no length for these sizes.
    #[error(transparent)]
    Length(#[from] PlanError),
}
