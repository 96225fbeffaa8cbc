//! Who else computes on a device, by NVML: the library that `nvidia-smi` is made of, and that containers may lack.

use crate::backend::shared_library;
use crate::device::DeviceError;

use super::ffi::Nvml;

/// Its name.
const NAME: &str = "libnvidia-ml.so.1";

/// The other processes that compute on the device of a UUID.
///
/// # Errors
/// [`DeviceError::Unsupported`] where the library is not there, or does not tell.
pub(super) fn others(uuid: &str) -> Result<Vec<u32>, DeviceError> {
    let mut reasons = Vec::new();
    for file in shared_library::candidates(NAME) {
        let begun = shared_library::check(&file).and_then(|()| Nvml::begin(&file));
        match begun.and_then(|nvml| nvml.processes(uuid)) {
            Ok(mut processes) => {
                processes.retain(|&process| process != std::process::id());
                return Ok(processes);
            }
            Err(reason) => reasons.push(format!("{}: {reason}", file.display())),
        }
    }
    if reasons.is_empty() {
        reasons.push(format!("no {NAME} in the loader's folders"));
    }
    Err(DeviceError::Unsupported {
        what: format!(
            "asking for the processes of {uuid} ({})",
            reasons.join("; ")
        ),
    })
}
