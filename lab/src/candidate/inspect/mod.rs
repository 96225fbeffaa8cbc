//! Reads the resources of a compiled kernel on its target from the compiler's output. No GPU is needed.
//!
//! Each backend has two independent sources: the compiler's log and the image itself. For NVIDIA, these are the lines
//! of `ptxas -v` and the sections of the cubin. For AMD, they are the remarks of `kernel-resource-usage` and the
//! metadata note of the code object. Both sources contain registers, stack and static shared memory, and the values
//! must agree. NVIDIA's spills are only in the log.

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

/// Reads the resources of an entry from the image.
///
/// # Errors
/// If the image is damaged, belongs to another backend, or lacks the entry, or if `backend` is not a GPU's.
pub fn from_image(backend: Backend, image: &[u8], symbol: &str) -> Result<Resources, InspectError> {
    match backend {
        Backend::Cuda => cubin::resources(image, symbol),
        Backend::Hip => amd_note::resources(image, symbol),
        Backend::Cpu | Backend::Fake => Err(InspectError::Backend { backend }),
    }
}

/// Reads the resources of an entry from the compiler's log.
///
/// # Errors
/// If the log does not mention the entry, or its lines cannot be parsed, or if `backend` is not a GPU's.
pub fn from_log(backend: Backend, log: &str, symbol: &str) -> Result<Resources, InspectError> {
    match backend {
        Backend::Cuda => ptxas_log::resources(log, symbol),
        Backend::Hip => amd_remark::resources(log, symbol),
        Backend::Cpu | Backend::Fake => Err(InspectError::Backend { backend }),
    }
}

/// Reads the resources of an entry from both sources. An image that was built elsewhere has no log; figures that only a
/// log contains are then `None`.
///
/// # Errors
/// If the image cannot be read, or the two sources disagree.
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
