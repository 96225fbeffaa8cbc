//! Finds the CUDA driver. The driver is installed together with its kernel module, so it is the only library that
//! Kiln's setup cannot install.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::backend::shared_library::{self, LibraryError};
use crate::device::DeviceError;

use super::error::of_call;
use super::ffi::Driver;

/// The file names of the driver. The first name is the one that exists without a development package.
const NAMES: [&str; 2] = ["libcuda.so.1", "libcuda.so"];

/// The driver, and where it was found.
pub(super) struct FoundDriver {
    /// The functions of the driver.
    pub driver: Driver,
    /// The file of the driver.
    pub file: PathBuf,
    /// The newest CUDA version that the driver supports, such as 13000 for CUDA 13.0.
    pub version: i32,
}

impl FoundDriver {
    /// The driver of this machine. The first call loads and initialises it.
    ///
    /// # Errors
    /// [`DeviceError::NotFound`] if there is no driver, if it is damaged or lacks a function, or if it finds no
    /// device.
    pub fn get() -> Result<&'static FoundDriver, DeviceError> {
        static FOUND: OnceLock<Result<FoundDriver, DeviceError>> = OnceLock::new();
        FOUND.get_or_init(find).as_ref().map_err(DeviceError::clone)
    }

    /// The number of devices that the driver reports.
    ///
    /// # Errors
    /// The driver's error.
    pub fn device_count(&self) -> Result<u32, DeviceError> {
        let count = self.driver.device_count().map_err(of_call)?;
        Ok(u32::try_from(count).unwrap_or(0))
    }
}

fn find() -> Result<FoundDriver, DeviceError> {
    let not_found = |text: String| DeviceError::NotFound {
        what: "the CUDA driver".into(),
        text,
    };
    let mut reasons = Vec::new();
    for name in NAMES {
        for file in shared_library::candidates(name) {
            match load(&file) {
                Ok(driver) => return started(driver, file),
                Err(reason) => reasons.push(format!("{}: {reason}", file.display())),
            }
        }
    }
    if reasons.is_empty() {
        let names = NAMES.join(" and no ");
        return Err(not_found(format!("no {names} in the loader's folders")));
    }
    Err(not_found(reasons.join("; ")))
}

fn load(file: &Path) -> Result<Driver, LibraryError> {
    shared_library::check(file)?;
    Driver::load(file)
}

/// Initialises a driver. If the first call of the driver fails, the driver cannot be used. This is usually because the
/// machine has no GPU or because the kernel module has another version.
fn started(driver: Driver, file: PathBuf) -> Result<FoundDriver, DeviceError> {
    let begun = driver.init().and_then(|()| driver.version());
    match begun {
        Ok(version) => Ok(FoundDriver {
            driver,
            file,
            version,
        }),
        Err(failed) => Err(DeviceError::NotFound {
            what: "an NVIDIA GPU".into(),
            text: format!("{} says: {}", file.display(), failed.text),
        }),
    }
}
