//! Finding and opening devices.

use std::sync::{Arc, Mutex, PoisonError};

use kiln_spec::Backend;

use crate::backend::cpu::{CpuDevice, CpuOptions};
use crate::backend::cuda::CudaDevice;
#[cfg(feature = "testing")]
use crate::backend::fake::FakeDevice;
use crate::backend::hip::HipDevice;
#[cfg(feature = "sim")]
use crate::backend::sim::SimDevice;
use crate::device::{Device, DeviceBackend, DeviceError};

/// The devices of one GPU backend.
struct Gpus {
    backend: Backend,
    /// Returns the number of devices, or the reason why there are none.
    count: fn() -> Result<u32, DeviceError>,
    /// Opens a device by its number.
    open: fn(u32) -> Opened,
}

/// An open device, or the reason why it could not be opened.
type Opened = Result<Device, DeviceError>;

/// Every GPU backend, in order of preference.
const GPUS: [Gpus; 2] = [
    Gpus {
        backend: Backend::Cuda,
        count: CudaDevice::count,
        open: |ordinal| Ok(CudaDevice::open(ordinal)?.into()),
    },
    Gpus {
        backend: Backend::Hip,
        count: HipDevice::count,
        open: |ordinal| Ok(HipDevice::open(ordinal)?.into()),
    },
];

/// Opens a device by its name.
///
/// - `cpu` is the cpu device.
/// - `cuda:0` (or `cuda`) is an NVIDIA GPU and `hip:0` (or `hip`) is an AMD GPU, with the number that the driver
///   assigns to it.
/// - With the feature `testing`, `fake` (or `fake:script.json`) is a device that behaves as a script specifies.
/// - With the feature `sim`, `sim:sm_89` or `sim:gfx1151` is a simulated GPU, whose images are interpreted.
///
/// A process has one object per device, no matter how often the device is opened. Fake devices with a script are an
/// exception, because each call opens a new one.
///
/// ```
/// # fn main() -> Result<(), kiln::DeviceError> {
/// let device = kiln::open("cpu")?;
/// assert_eq!(device.info().key.backend.name(), "cpu");
/// assert!(kiln::open("toaster").is_err());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`DeviceError::NotFound`] if this machine does not have the device, with the reason and the available devices;
/// otherwise the error of the backend that could not open the device.
pub fn open(name: &str) -> Result<Device, DeviceError> {
    let (backend, which) = split(name);
    let gpus = GPUS.iter().find(|gpus| gpus.backend.name() == backend);
    let why = match (backend, gpus, ordinal(which)) {
        ("cpu", ..) if which.is_none() => return Ok(cpu()?.into()),
        #[cfg(feature = "testing")]
        ("fake", ..) => return Ok(FakeDevice::open(which)?.into()),
        #[cfg(feature = "sim")]
        ("sim", ..) => return Ok(SimDevice::open(which.unwrap_or_default())?.into()),
        (_, Some(gpus), Some(ordinal)) => match (gpus.open)(ordinal) {
            Ok(device) => return Ok(device),
            Err(DeviceError::NotFound { what, text }) => format!("{what} was not found: {text}"),
            Err(error) => return Err(error),
        },
        _ => not_found(name, &missing()),
    };
    let here: Vec<_> = devices().iter().map(|device| name_of(&**device)).collect();
    Err(DeviceError::NotFound {
        what: format!("device `{name}`"),
        text: format!("{why}; {}", listed(&here)),
    })
}

impl Device {
    /// Opens the cpu device, which every machine has. Compiling for it needs a C++ compiler.
    ///
    /// # Errors
    /// If one of Kiln's own environment variables (docs/environment.md) has an invalid value.
    pub fn cpu() -> Result<Device, DeviceError> {
        open("cpu")
    }

    /// Opens the NVIDIA GPU with this number in the CUDA driver.
    ///
    /// # Errors
    /// The errors of [`Device::open`].
    pub fn cuda(ordinal: u32) -> Result<Device, DeviceError> {
        open(&format!("cuda:{ordinal}"))
    }

    /// Opens the AMD GPU with this number in the HIP runtime.
    ///
    /// # Errors
    /// The errors of [`Device::open`].
    pub fn hip(ordinal: u32) -> Result<Device, DeviceError> {
        open(&format!("hip:{ordinal}"))
    }

    /// Opens a device by its name, as command lines specify it: see [`open`].
    ///
    /// # Errors
    /// The errors of [`open`].
    pub fn open(name: &str) -> Result<Device, DeviceError> {
        open(name)
    }

    /// The name with which [`Device::open`] opens this device, such as `cpu` or `cuda:0`.
    pub fn name(&self) -> String {
        name_of(&**self)
    }
}

/// Parses the number of a device. Without a number, the device is number 0.
fn ordinal(which: Option<&str>) -> Option<u32> {
    which.map_or(Some(0), |which| which.parse().ok())
}

/// All available devices of this machine, except fake and simulated devices. The cpu device is the first.
pub fn devices() -> Vec<Device> {
    let gpus = gpus().into_iter().filter_map(|(_, opened)| opened.ok());
    let cpu = cpu().ok().map(Device::from);
    cpu.into_iter().chain(gpus).collect()
}

/// The names of the simulated GPUs, in the form that [`open`] accepts.
#[cfg(feature = "sim")]
pub fn simulated() -> Vec<String> {
    let targets = crate::backend::sim::targets();
    targets
        .map(|target| format!("sim:{}", target.arch))
        .collect()
}

/// The GPUs that are not available, each with the reason. An item is either a backend without devices (`hip`) or a
/// device that exists but cannot be opened (`hip:1`).
pub fn missing() -> Vec<(String, DeviceError)> {
    let unopened = gpus().into_iter();
    unopened
        .filter_map(|(name, opened)| Some((name, opened.err()?)))
        .collect()
}

/// Every GPU that a driver reports, with its name. A backend without devices is listed by the name of the backend.
fn gpus() -> Vec<(String, Opened)> {
    let of_kind = |gpus: &Gpus| {
        let backend = gpus.backend;
        match (gpus.count)() {
            Err(error) => vec![(backend.to_string(), Err(error))],
            Ok(count) => {
                let opened = |ordinal| (format!("{backend}:{ordinal}"), (gpus.open)(ordinal));
                (0..count).map(opened).collect()
            }
        }
    };
    GPUS.iter().flat_map(of_kind).collect()
}

/// Splits a device's name into the backend and the part after the colon.
fn split(name: &str) -> (&str, Option<&str>) {
    match name.split_once(':') {
        Some((backend, which)) => (backend, Some(which)),
        None => (name, None),
    }
}

/// The name with which [`open`] opens a device.
pub fn name_of(device: &dyn DeviceBackend) -> String {
    let info = device.info();
    if info.is_simulated {
        return format!("sim:{}", info.key.arch);
    }
    match info.key.backend {
        backend @ (Backend::Cpu | Backend::Fake) => backend.to_string(),
        backend @ (Backend::Cuda | Backend::Hip) => format!("{backend}:{}", info.ordinal),
    }
}

/// The text of the error if no device is called `name`.
fn not_found(name: &str, missing: &[(String, DeviceError)]) -> String {
    let reason = |backend: Backend| missing.iter().find(|(name, _)| name == backend.name());
    let why = match meant(name) {
        Some(backend) => match reason(backend) {
            Some((_, error)) => error.to_string(),
            None => format!("no {backend} device here has that name"),
        },
        None => "no backend has that name".to_owned(),
    };
    match arch_of(name) {
        Some(backend) => format!("it is an architecture of {backend} devices, and {why}"),
        None => why,
    }
}

/// A text that lists the available devices.
fn listed(here: &[String]) -> String {
    if here.is_empty() {
        return "there is no device here".into();
    }
    let here: Vec<_> = here.iter().map(|name| format!("`{name}`")).collect();
    format!("devices here: {}", here.join(", "))
}

/// The backend that a user probably means by a device name that does not exist.
fn meant(name: &str) -> Option<Backend> {
    let named = split(name).0.to_ascii_lowercase().parse().ok();
    named.or_else(|| arch_of(name))
}

/// The backend whose architectures have names like this one (`sm_…` or `gfx…`).
fn arch_of(name: &str) -> Option<Backend> {
    let name = name.to_ascii_lowercase();
    let forms = [("sm_", Backend::Cuda), ("gfx", Backend::Hip)];
    let form = forms.into_iter().find(|(form, _)| name.starts_with(form));
    form.map(|(_, backend)| backend)
}

/// The cpu device, which is opened once per process.
fn cpu() -> Result<Arc<CpuDevice>, DeviceError> {
    static CPU: Mutex<Option<Arc<CpuDevice>>> = Mutex::new(None);
    let mut cpu = CPU.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(cpu) = &*cpu {
        return Ok(cpu.clone());
    }
    Ok(cpu.insert(CpuDevice::open()?).clone())
}

/// A cpu device with the largest limits that it supports, so rows of other devices can run on it.
pub(crate) fn cpu_with_raised_limits() -> Result<Device, DeviceError> {
    let options = CpuOptions::from_env()?.with_raised_limits();
    Ok(CpuDevice::with_options(options)?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_backend_without_a_device_says_why_there_is_none() {
        let error = DeviceError::NotFound {
            what: "the CUDA driver".into(),
            text: "no libcuda.so.1".into(),
        };
        let missing = [("cuda".to_owned(), error)];
        let cuda = "the CUDA driver was not found: no libcuda.so.1";
        for name in ["CUDA:0", "cuda:one"] {
            assert_eq!(not_found(name, &missing), cuda, "{name}");
        }
        let arch = "it is an architecture of cuda devices, and ";
        assert_eq!(not_found("sm_89", &missing), format!("{arch}{cuda}"));
    }

    #[test]
    fn a_name_that_no_device_has_says_why() {
        let none = "no hip device here has that name";
        assert_eq!(not_found("hip:one", &[]), none);
        let arch = format!("it is an architecture of hip devices, and {none}");
        assert_eq!(not_found("gfx1151", &[]), arch);
        let second = "no cpu device here has that name";
        assert_eq!(not_found("cpu:1", &[]), second);
        assert_eq!(not_found("toaster", &[]), "no backend has that name");
    }

    #[test]
    fn what_is_here_is_listed_by_name() {
        assert_eq!(listed(&[]), "there is no device here");
        let two = ["hip:0".to_owned(), "cpu".to_owned()];
        assert_eq!(listed(&two), "devices here: `hip:0`, `cpu`");
    }

    #[test]
    fn a_gpu_that_is_not_here_says_why() {
        for name in ["hip:4711", "cuda:4711"] {
            let error = open(name).expect_err("no machine has so many");
            assert!(matches!(error, DeviceError::NotFound { .. }), "{error:?}");
            let text = error.to_string();
            let start = format!("device `{name}` was not found");
            assert!(text.starts_with(&start), "{text}");
        }
        for (name, error) in missing() {
            let opened = open(&name).expect_err("it is missing").to_string();
            assert!(opened.contains(&error.to_string()), "{opened}");
        }
    }

    #[test]
    fn what_is_named_as_being_here_opens() {
        for device in devices() {
            let name = name_of(&*device);
            assert!(open(&name).is_ok(), "{name}");
            let error = open("gfx1151").expect_err("that is not a name of a device");
            assert!(error.to_string().contains(&format!("`{name}`")), "{error}");
        }
    }
}
