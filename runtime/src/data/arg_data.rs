//! The data of one argument.

use kiln_spec::{PlanError, ScalarType};
use thiserror::Error;

use crate::data::fill::FillError;

/// Why the data of a launch cannot be generated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DataError {
    /// An input cannot be generated.
    #[error(transparent)]
    Fill(#[from] FillError),
    /// A slice has no length for this problem.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A scalar that is not a problem size has no declared value.
    #[error("`{argument}` is not a problem size and has no `#[value(..)]`")]
    NoValue {
        /// The argument.
        argument: String,
    },
    /// A scalar's value does not fit its type.
    #[error("`{argument}` is {value}, which is not a value of {ty}")]
    BadValue {
        /// The argument.
        argument: String,
        /// Its value.
        value: String,
        /// Its type.
        ty: ScalarType,
    },
    /// The function that generates the inputs is not linked into this program.
    #[error(
        "the inputs of `{kernel}` are made by the Rust function `{function}`, which is not linked into this program\nhelp: run `tune init --own`, which writes a `tune` with the crate linked in, and tune with that one"
    )]
    NoInputs {
        /// The kernel.
        kernel: String,
        /// The function's path.
        function: String,
    },
    /// A slice does not fit into the address space.
    #[error("`{argument}` has {len} elements, more than this machine can address")]
    TooLarge {
        /// The argument.
        argument: String,
        /// Its length.
        len: u64,
    },
}

/// The data of one argument on the host.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgData {
    /// The bytes of a scalar.
    Scalar(Vec<u8>),
    /// The bytes of a slice before the launch. Outputs are zero.
    Slice(Vec<u8>),
}

impl ArgData {
    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            ArgData::Scalar(bytes) | ArgData::Slice(bytes) => bytes,
        }
    }
}
