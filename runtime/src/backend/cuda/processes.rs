//! Who else computes on a device, and how fast its clock is, by NVML: the library that `nvidia-smi` is made of, and that containers may lack.

use std::path::Path;
use std::sync::OnceLock;

use crate::backend::shared_library;
use crate::device::{ClockReading, DeviceError};

use super::ffi::Nvml;
use super::library_error::NvmlError;

/// Its name.
const NAME: &str = "libnvidia-ml.so.1";

/// NVML, begun once and for all; `None` if it is not available.
fn kept() -> Option<&'static Nvml> {
    static KEPT: OnceLock<Option<Nvml>> = OnceLock::new();
    let begin = || {
        let files = shared_library::candidates(NAME).into_iter();
        files.map(|file| self::begin(&file)).find_map(Result::ok)
    };
    KEPT.get_or_init(begin).as_ref()
}

fn begin(file: &Path) -> Result<Nvml, NvmlError> {
    shared_library::check(file)?;
    Nvml::begin(file)
}

/// The clock of the device of a UUID; `None` if NVML does not tell.
pub(super) fn clock(uuid: &str) -> Option<ClockReading> {
    kept()?.clock(uuid).ok()
}

/// The other processes that compute on the device of a UUID.
///
/// # Errors
/// [`DeviceError::Unsupported`] if the library is not there, or does not tell.
pub(super) fn others(uuid: &str) -> Result<Vec<u32>, DeviceError> {
    let mut reasons = Vec::new();
    for file in shared_library::candidates(NAME) {
        let begun = begin(&file);
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
