//! What a launch on the fake device does wrong.

use kiln_spec::PlanError;
use thiserror::Error;

/// Why a launch breaks the device.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum FakeFault {
    /// A receipt entry was launched without its last argument.
    #[error("a receipt entry has an argument")]
    NoReceipt,
    /// A receipt is not in the device's memory.
    #[error("illegal access of a receipt at {address:#x}")]
    Receipt {
        /// Where it should be.
        address: u64,
    },
    /// An argument is not in the device's memory.
    #[error("illegal access of {bytes} bytes at {address:#x}")]
    Access {
        /// How many bytes were accessed.
        bytes: usize,
        /// Where.
        address: u64,
    },
    /// The reference cannot be called without a size that only the launch function gets.
    #[error("the fake device cannot run a kernel that does not get its size `{name}`")]
    NoSize {
        /// The size.
        name: String,
    },
    /// There are fewer arguments than the kernel has parameters.
    #[error("{passed} arguments were passed to a kernel of {takes}")]
    Arguments {
        /// Arguments of the launch.
        passed: usize,
        /// Parameters of the kernel.
        takes: usize,
    },
    /// A slice has no length for these sizes.
    #[error(transparent)]
    Length(#[from] PlanError),
}
