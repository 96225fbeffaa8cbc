//! [`RigError`], the error of a launch under test.

use thiserror::Error;

use crate::compare::{Unjudged, WorstElement};
use crate::data::arg_data::DataError;
use crate::device::error::DeviceError;

/// Where an expected output comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedSource {
    /// The plain-Rust reference.
    Reference,
    /// A launch of the entry that the spec specifies as the reference.
    ReferenceEntry,
    /// A launch of the baseline.
    Baseline,
}

/// The reason why a launch on a rig failed, or why its outputs are wrong.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RigError {
    /// The device refused the launch or reported a fault.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The data of the arguments cannot be generated.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The error of an output element exceeds the tolerance.
    #[error("{worst}")]
    Incorrect {
        /// The element with the largest error.
        worst: WorstElement,
        /// Where the expected value comes from.
        against: ExpectedSource,
    },
    /// An output element is NaN or infinite, but its expected value is finite.
    #[error("`{output}`[{index}] is not a finite number, but should be")]
    NotANumber {
        /// The name of the output.
        output: String,
        /// The index of the element.
        index: u64,
    },
    /// The kernel did not write some elements of an output.
    #[error(
        "`{output}`[{index}] is never written ({count} of the {len} elements of `{output}`)\n\
         help: write every element, make `#[len(..)]` of `{output}` smaller, or declare it as `#[inout]` if it keeps \
         its content"
    )]
    Unwritten {
        /// The name of the output.
        output: String,
        /// The index of the first unwritten element.
        index: u64,
        /// Number of unwritten elements.
        count: u64,
        /// Number of elements of the output.
        len: u64,
    },
    /// The result of the kernel depends on what an output contained before the launch.
    #[error(
        "`{output}`[{index}] depends on what `{output}` contained before the launch\n\
         help: if the kernel reads `{output}` or adds to it, declare `{output}` as `#[inout]`"
    )]
    ReadsOutput {
        /// The name of the output.
        output: String,
        /// The index of the element.
        index: u64,
    },
    /// A comparison with the expected outputs would say nothing about most elements of an output.
    #[error("{0}")]
    Unjudged(Unjudged),
    /// The kernel wrote to a guard zone of a buffer.
    #[error("the kernel wrote outside `{argument}`")]
    GuardHit {
        /// The name of the argument.
        argument: String,
    },
    /// The kernel changed an input.
    #[error("the kernel wrote its input `{argument}`")]
    InputChanged {
        /// The name of the argument.
        argument: String,
    },
    /// The expected outputs do not include this output, or they belong to another problem.
    #[error("there is no expected output for `{argument}` of {len} elements")]
    NoExpectation {
        /// The name of the argument.
        argument: String,
        /// The length of the argument in elements.
        len: usize,
    },
}
