//! Finding and opening devices.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::backend::cpu::{CpuDevice, CpuOptions};
use crate::backend::fake::FakeDevice;
use crate::device::{Device, DeviceError};

/// Opens a device by name: `cpu`, or `fake` (`fake:script.json`) for tests.
///
/// The cpu device of a process is one object, however often it is opened.
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
        "cpu" if which.is_none() => Ok(cpu()?),
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

/// The cpu device of this process.
fn cpu() -> Result<Arc<CpuDevice>, DeviceError> {
    static CPU: Mutex<Option<Arc<CpuDevice>>> = Mutex::new(None);
    let mut cpu = CPU.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(cpu) = &*cpu {
        return Ok(cpu.clone());
    }
    Ok(cpu.insert(CpuDevice::open()?).clone())
}

/// A cpu device with its limits raised to what it can do at all, so that other devices' rows run on it.
pub(crate) fn cpu_with_raised_limits() -> Result<Arc<dyn Device>, DeviceError> {
    let options = CpuOptions::from_env()?.with_raised_limits();
    Ok(CpuDevice::with_options(options)?)
}
