//! Cache files of Kernel Tuner, which its simulation mode reads.

pub(crate) mod read;
mod write;

use thiserror::Error;

use crate::results::Results;

/// Why results cannot be written as a cache file of Kernel Tuner.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KernelTunerError {
    /// A parameter has the name of a field of the file's entries.
    #[error(
        "a cache file of Kernel Tuner cannot hold a parameter `{name}`, which is a field of its own"
    )]
    ParamIsField {
        /// Name of the parameter.
        name: String,
    },
    /// A value has a comma. Commas separate the values in the keys of the file.
    #[error(
        "a cache file of Kernel Tuner cannot hold the value `{value}` of `{name}`, which has a comma"
    )]
    ValueHasComma {
        /// Name of the parameter.
        name: String,
        /// The value that contains a comma.
        value: String,
    },
}

impl Results {
    /// The text of a cache file of Kernel Tuner with these results.
    ///
    /// # Errors
    /// The name of a parameter or a value cannot be written in such a file.
    pub fn to_kernel_tuner(&self) -> Result<String, KernelTunerError> {
        write::text(self)
    }
}
