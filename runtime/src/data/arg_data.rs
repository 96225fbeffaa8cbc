//! The data of one argument on the host.

use kiln_spec::{PlanError, ScalarType};
use thiserror::Error;

use crate::data::fill::FillError;

/// The reason why the data of a launch cannot be generated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DataError {
    /// An input cannot be generated.
    #[error(transparent)]
    Fill(#[from] FillError),
    /// The length of a slice cannot be evaluated for this problem.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A scalar that is not a problem size has no declared value.
    #[error("`{argument}` is not a problem size and has no `#[value(..)]`")]
    NoValue {
        /// The name of the argument.
        argument: String,
    },
    /// A scalar's value does not fit its type.
    #[error("`{argument}` is {value}, which is not a value of {ty}")]
    BadValue {
        /// The name of the argument.
        argument: String,
        /// The declared value.
        value: String,
        /// The argument's type.
        ty: ScalarType,
    },
    /// The function that generates the inputs is not linked into this program.
    #[error(
        "the inputs of `{kernel}` are made by the Rust function `{function}`, which is not linked into this program\nhelp: run `tune init --own`, which writes a `tune` with the crate linked in, and tune with that one"
    )]
    NoInputs {
        /// The name of the kernel.
        kernel: String,
        /// The path of the function.
        function: String,
    },
    /// A slice does not fit into the address space.
    #[error("`{argument}` has {len} elements, more than this machine can address")]
    TooLarge {
        /// The name of the argument.
        argument: String,
        /// The length of the slice in elements.
        len: u64,
    },
}

/// The data of one argument on the host.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgData {
    /// The bytes of a scalar, struct or array that is passed by value.
    Scalar(Vec<u8>),
    /// The bytes of a slice before the launch. An output's bytes are zero.
    Slice(Vec<u8>),
}

impl ArgData {
    /// The bytes of the argument.
    pub fn bytes(&self) -> &[u8] {
        match self {
            ArgData::Scalar(bytes) | ArgData::Slice(bytes) => bytes,
        }
    }
}
