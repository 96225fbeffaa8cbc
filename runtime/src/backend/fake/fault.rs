//! [`FakeFault`], the faults of a launch on the fake device.

use kiln_spec::PlanError;
use thiserror::Error;

/// The reason why a launch makes the fake device unusable.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum FakeFault {
    /// A receipt entry was launched without its last argument, which is the address of the receipt.
    #[error("a receipt entry has an argument")]
    NoReceipt,
    /// The address of a receipt is outside the device's memory.
    #[error("illegal access of a receipt at {address:#x}")]
    Receipt {
        /// The illegal address.
        address: u64,
    },
    /// The address of an argument is outside the device's memory.
    #[error("illegal access of {bytes} bytes at {address:#x}")]
    Access {
        /// Number of bytes that the kernel accessed.
        bytes: usize,
        /// The illegal address.
        address: u64,
    },
    /// The reference needs a size that the kernel does not receive as an argument.
    #[error("the fake device cannot run a kernel that does not get its size `{name}`")]
    NoSize {
        /// The name of the size.
        name: String,
    },
    /// There are fewer arguments than the kernel has parameters.
    #[error("{passed} arguments were passed, but the kernel takes {takes}")]
    Arguments {
        /// Number of arguments of the launch.
        passed: usize,
        /// Number of parameters of the kernel.
        takes: usize,
    },
    /// The length of a slice cannot be evaluated for these sizes.
    #[error(transparent)]
    Length(#[from] PlanError),
}
