//! Finding and opening devices.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use kiln_spec::Backend;

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
    let (backend, which) = split(name);
    match backend {
        "cpu" if which.is_none() => Ok(cpu()?),
        "fake" => Ok(FakeDevice::open(which)?),
        _ => {
            let here: Vec<_> = devices().iter().map(|device| name_of(&**device)).collect();
            Err(DeviceError::NotFound {
                what: format!("device `{name}`"),
                text: not_found(name, &BUILT, &here),
            })
        }
    }
}

/// Every device of this machine; never the fake one.
pub fn devices() -> Vec<Arc<dyn Device>> {
    ["cpu"]
        .into_iter()
        .filter_map(|name| open(name).ok())
        .collect()
}

/// The backends that this version has.
const BUILT: [Backend; 2] = [Backend::Cpu, Backend::Fake];

/// The backends that Kiln knows of but this version does not have.
pub fn backends_not_built() -> Vec<Backend> {
    let all = Backend::ALL.into_iter();
    all.filter(|backend| !BUILT.contains(backend)).collect()
}

/// The backend's part of a device's name, and which of its devices.
fn split(name: &str) -> (&str, Option<&str>) {
    match name.split_once(':') {
        Some((backend, which)) => (backend, Some(which)),
        None => (name, None),
    }
}

/// What [`open`] calls a device.
fn name_of(device: &dyn Device) -> String {
    let info = device.info();
    match info.key.backend {
        backend @ (Backend::Cpu | Backend::Fake) => backend.to_string(),
        backend @ (Backend::Cuda | Backend::Hip) => format!("{backend}:{}", info.ordinal),
    }
}

/// Why nothing opens under a name, and what does.
fn not_found(name: &str, built: &[Backend], here: &[String]) -> String {
    let why = match meant(name) {
        Some(backend) if built.contains(&backend) => {
            format!("no {backend} device here has that name")
        }
        Some(backend) => format!("this build of Kiln has no {backend} backend"),
        None => "no backend has that name".to_owned(),
    };
    let why = match arch_of(name) {
        Some(backend) => format!("it is an architecture of {backend} devices, and {why}"),
        None => why,
    };
    if here.is_empty() {
        return format!("{why}; there is no device here");
    }
    let here: Vec<_> = here.iter().map(|name| format!("`{name}`")).collect();
    format!("{why}; devices here: {}", here.join(", "))
}

/// The backend that somebody who gave this name thinks of.
fn meant(name: &str) -> Option<Backend> {
    let named = split(name).0.to_ascii_lowercase().parse().ok();
    named.or_else(|| arch_of(name))
}

/// The backend whose architectures have names of this form.
fn arch_of(name: &str) -> Option<Backend> {
    let name = name.to_ascii_lowercase();
    let forms = [("sm_", Backend::Cuda), ("gfx", Backend::Hip)];
    let form = forms.into_iter().find(|(form, _)| name.starts_with(form));
    form.map(|(_, backend)| backend)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn says(name: &str, built: &[Backend], here: &[&str]) -> String {
        let here: Vec<_> = here.iter().map(|name| (*name).to_owned()).collect();
        not_found(name, built, &here)
    }

    #[test]
    fn a_name_of_a_backend_that_is_not_built_says_so() {
        let [cuda, hip] = ["cuda", "hip"]
            .map(|name| format!("this build of Kiln has no {name} backend; devices here: `cpu`"));
        for name in ["cuda", "cuda:0", "CUDA:0"] {
            assert_eq!(says(name, &BUILT, &["cpu"]), cuda, "{name}");
        }
        assert_eq!(says("hip:1", &BUILT, &["cpu"]), hip);
        let arch = |backend: &str| format!("it is an architecture of {backend} devices, and ");
        assert_eq!(says("sm_89", &BUILT, &["cpu"]), arch("cuda") + &cuda);
        assert_eq!(says("gfx1151", &BUILT, &["cpu"]), arch("hip") + &hip);
    }

    #[test]
    fn a_name_that_no_device_has_says_which_there_are() {
        let built = [Backend::Hip, Backend::Cpu];
        let none = "no hip device here has that name; devices here: `hip:0`, `cpu`";
        assert_eq!(says("hip:1", &built, &["hip:0", "cpu"]), none);
        let arch = format!("it is an architecture of hip devices, and {none}");
        assert_eq!(says("gfx1151", &built, &["hip:0", "cpu"]), arch);
        let second = "no cpu device here has that name; devices here: `cpu`";
        assert_eq!(says("cpu:1", &BUILT, &["cpu"]), second);
        let unknown = "no backend has that name; there is no device here";
        assert_eq!(says("toaster", &BUILT, &[]), unknown);
    }

    #[test]
    fn what_is_named_as_being_here_opens() {
        for device in devices() {
            let name = name_of(&*device);
            assert!(open(&name).is_ok(), "{name}");
            let error = open("gfx1151").expect_err("that is no name of a device");
            assert!(error.to_string().contains(&format!("`{name}`")), "{error}");
        }
    }
}
