//! Queries NVML for the other processes on a device and for the device's clock. NVML is the library behind
//! `nvidia-smi`. Containers may not have it.

use std::path::Path;
use std::sync::OnceLock;

use crate::backend::shared_library;
use crate::device::{ClockReading, DeviceError};

use super::ffi::Nvml;
use super::library_error::NvmlError;

/// The file name of the library.
const NAME: &str = "libnvidia-ml.so.1";

/// NVML, which the first call loads and initialises; `None` if it is not available.
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

/// The clock of the device with this UUID; `None` if NVML does not report it.
pub(super) fn clock(uuid: &str) -> Option<ClockReading> {
    kept()?.clock(uuid).ok()
}

/// The other processes that compute on the device with this UUID.
///
/// # Errors
/// [`DeviceError::Unsupported`] if the library is missing or does not report the processes.
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
