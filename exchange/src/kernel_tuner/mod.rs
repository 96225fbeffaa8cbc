//! Cache files of Kernel Tuner, which its simulation mode opens.

pub(crate) mod read;
mod write;

use crate::results::Results;

impl Results {
    /// As a cache file of Kernel Tuner.
    ///
    /// # Errors
    /// A value that such a file cannot hold.
    pub fn to_kernel_tuner(&self) -> Result<String, String> {
        write::text(self)
    }
}
