//! Finds the CUDA driver. The driver is installed together with its kernel module, so it is the only library that
//! Kiln's setup cannot install.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::backend::shared_library::{self, LibraryError, candidates};
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

/// Loads the first driver that can be loaded and initialised. Initialising fails if the machine has no GPU, or if the
/// kernel module has another version.
fn find() -> Result<FoundDriver, DeviceError> {
    let not_found = |text: String| DeviceError::NotFound {
        what: "the CUDA driver".into(),
        text,
    };
    let mut unfit = Vec::new();
    let mut refused = Vec::new();
    for file in shared_library::different_files(NAMES.into_iter().flat_map(candidates)) {
        let name = file.display();
        match load(&file) {
            Err(reason) => unfit.push(format!("{name}: {reason}")),
            // The first library may be a copy for another kernel module (NVIDIA's "CUDA compatibility" packages).
            Ok(driver) => match driver.init().and_then(|()| driver.version()) {
                Err(failed) => refused.push(format!("{name} says: {}", failed.text)),
                Ok(version) => {
                    return Ok(FoundDriver {
                        driver,
                        file,
                        version,
                    });
                }
            },
        }
    }
    if !refused.is_empty() {
        return Err(DeviceError::NotFound {
            what: "an NVIDIA GPU".into(),
            text: refused.join("; "),
        });
    }
    if unfit.is_empty() {
        let names = NAMES.join(" and no ");
        return Err(not_found(format!("no {names} in the loader's folders")));
    }
    Err(not_found(unfit.join("; ")))
}

fn load(file: &Path) -> Result<Driver, LibraryError> {
    shared_library::check(file)?;
    Driver::load(file)
}
