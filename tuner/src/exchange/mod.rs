//! Files that other tuners read: search spaces as T1, results as T4 or as cache files of Kernel Tuner.
//!
//! `tune export` writes them; [`crate::recording`] and [`crate::definition`] read them back.

mod json;
mod kernel;
mod kernel_tuner;
mod python;
mod recorded;
mod results;
mod t1;
mod t4;
mod trials;

pub use kernel::kernel_as_t1;
pub use recorded::of_recording;
pub use results::{ResultRow, Results};
pub use trials::{Exported, of_trials};

impl Results {
    /// As a cache file of Kernel Tuner, which its simulation mode opens.
    ///
    /// # Errors
    /// A value that such a file cannot hold.
    pub fn to_kernel_tuner(&self) -> Result<String, String> {
        kernel_tuner::text(self)
    }

    /// As a T4 results file, with T4's metadata in the same file.
    pub fn to_t4(&self) -> String {
        t4::text(self)
    }
}
