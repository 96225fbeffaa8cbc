//! Errors of launches on a rig.

use thiserror::Error;

use crate::compare::WorstElement;
use crate::data::arg_data::DataError;
use crate::device::error::DeviceError;

/// The source of an expected output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedSource {
    /// A plain-Rust reference.
    Reference,
    /// A launch of the entry that the spec names as reference.
    ReferenceEntry,
    /// A launch of the baseline.
    Baseline,
}

/// The fault of a launch.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RigError {
    /// The device refused, or reported a fault.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The data cannot be generated.
    #[error(transparent)]
    Data(#[from] DataError),
    /// An output is beyond its tolerance.
    #[error("{worst}")]
    Incorrect {
        /// The worst element.
        worst: WorstElement,
        /// The source of the expected value.
        against: ExpectedSource,
    },
    /// An output contains NaN or infinity, but the reference is finite.
    #[error("`{output}`[{index}] is not a finite number, but should be")]
    NotANumber {
        /// The output.
        output: String,
        /// The element.
        index: u64,
    },
    /// The kernel did not write some elements of an output.
    #[error(
        "`{output}`[{index}] is never written ({count} of the {len} elements of `{output}`)\nhelp: write every \
         element, make `#[len(..)]` of `{output}` smaller, or declare it as `#[inout]` if it keeps what it holds"
    )]
    Unwritten {
        /// The output.
        output: String,
        /// The first such element.
        index: u64,
        /// Number of such elements.
        count: u64,
        /// Number of elements of the output.
        len: u64,
    },
    /// A guard zone was written.
    #[error("the kernel wrote outside `{argument}`")]
    GuardHit {
        /// The argument.
        argument: String,
    },
    /// An input was written.
    #[error("the kernel wrote its input `{argument}`")]
    InputChanged {
        /// The argument.
        argument: String,
    },
    /// The expected outputs belong to another problem.
    #[error("there is no expected output for `{argument}` of {len} elements")]
    NoExpectation {
        /// The argument.
        argument: String,
        /// Its length.
        len: usize,
    },
}
