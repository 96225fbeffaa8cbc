//! Finding and opening devices.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::backend::fake::FakeDevice;
use crate::device::{Device, DeviceError};

/// Opens a device by name: `cpu`, or `fake` (`fake:script.json`) for tests.
///
/// ```
/// # fn main() -> Result<(), kiln::DeviceError> {
/// let device = kiln::open("fake")?;
/// assert_eq!(device.info().key.backend.name(), "fake");
/// assert!(kiln::open("toaster").is_err());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`DeviceError::NotFound`] when there is no such device here.
pub fn open(name: &str) -> Result<Arc<dyn Device>, DeviceError> {
    let (backend, which) = match name.split_once(':') {
        Some((backend, which)) => (backend, Some(which)),
        None => (name, None),
    };
    match backend {
        "fake" => Ok(FakeDevice::open(which)?),
        _ => Err(DeviceError::NotFound {
            what: format!("device `{name}`"),
            text: "devices are named `cpu`, `cuda`, `cuda:1`, `hip`, `fake`".into(),
        }),
    }
}

/// Every device of this machine; never the fake one.
pub fn devices() -> Vec<Arc<dyn Device>> {
    ["cpu"]
        .into_iter()
        .filter_map(|name| open(name).ok())
        .collect()
}

/// The index of one more device object.
pub(crate) fn next_index() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The cpu device with its limits raised to what it can do at all, so that other devices' rows run on it.
pub(crate) fn cpu_with_raised_limits() -> Result<Arc<dyn Device>, DeviceError> {
    open("cpu")
}
