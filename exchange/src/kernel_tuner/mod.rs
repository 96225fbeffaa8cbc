//! Cache files of Kernel Tuner, which its simulation mode opens.

pub(crate) mod read;
mod write;

use thiserror::Error;

use crate::results::Results;

/// Why results cannot be written as a cache file of Kernel Tuner.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KernelTunerError {
    /// A parameter has the name of a field.
    #[error(
        "a cache file of Kernel Tuner cannot hold a parameter `{name}`, which is a field of its own"
    )]
    ParamIsField {
        /// The parameter.
        name: String,
    },
    /// A value has a comma, which separates values in the keys of the file.
    #[error(
        "a cache file of Kernel Tuner cannot hold the value `{value}` of `{name}`, which has a comma"
    )]
    ValueHasComma {
        /// The parameter.
        name: String,
        /// Its value.
        value: String,
    },
}

impl Results {
    /// As a cache file of Kernel Tuner.
    ///
    /// # Errors
    /// A value that such a file cannot hold.
    pub fn to_kernel_tuner(&self) -> Result<String, KernelTunerError> {
        write::text(self)
    }
}
