//! What a compiled kernel takes up on its target, read from what the compiler left: no GPU is needed.
//!
//! Each backend has two sources that know nothing of each other: the compiler's log and the image itself. For NVIDIA
//! these are the lines of `ptxas -v` and the cubin's own sections, for AMD the remarks of `kernel-resource-usage` and
//! the metadata note of the code object. Registers, stack and static shared memory stand in both and must agree.
//! NVIDIA's spills stand in the log alone.

mod amd_note;
mod amd_remark;
mod corners;
mod cubin;
mod error;
mod host;
mod inspected;
mod launchable;
mod ptxas_log;
mod resources;
mod table;

pub use amd_remark::waves_per_simd;
pub use corners::corners;
pub use error::{Disagreement, InspectError};
pub use host::{HostRow, host_to_text};
pub use inspected::Inspected;
pub use launchable::{CannotLaunch, LaunchRules, block_needs};
pub use resources::{Resources, Spills};
pub use table::{Figures, InspectRow, to_text};

use kiln_spec::Backend;

/// What an entry takes up, from the image.
///
/// # Errors
/// When the image is damaged, of another backend, or lacks the entry.
pub fn from_image(backend: Backend, image: &[u8], symbol: &str) -> Result<Resources, InspectError> {
    match backend {
        Backend::Cuda => cubin::resources(image, symbol),
        Backend::Hip => amd_note::resources(image, symbol),
        Backend::Cpu | Backend::Fake => Err(InspectError::Backend { backend }),
    }
}

/// What an entry takes up, from the compiler's log.
///
/// # Errors
/// When the log says nothing of the entry, or what it says cannot be read.
pub fn from_log(backend: Backend, log: &str, symbol: &str) -> Result<Resources, InspectError> {
    match backend {
        Backend::Cuda => ptxas_log::resources(log, symbol),
        Backend::Hip => amd_remark::resources(log, symbol),
        Backend::Cpu | Backend::Fake => Err(InspectError::Backend { backend }),
    }
}

/// What an entry takes up, from both sources together.
///
/// # Errors
/// When the image cannot be read, or the sources disagree. A log that is missing (an image from elsewhere) leaves what
/// only the log says unknown.
pub fn resources(
    backend: Backend,
    image: &[u8],
    log: &str,
    symbol: &str,
) -> Result<Resources, InspectError> {
    let image = from_image(backend, image, symbol)?;
    match from_log(backend, log, symbol) {
        Ok(log) => image.joined_with(&log, symbol),
        Err(InspectError::NotInLog { .. }) => Ok(image),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
