//! The device on which kernels are tested: the cpu, or the device that `KILN_TEST_DEVICE` selects.

use std::process::{Command, Output};
use std::sync::OnceLock;

use kiln::compiler::BuildKind;
use kiln::prepare;
use kiln::spec::Backend;
use kiln::{Device, Stream, device::DeviceBackend};

use crate::capability::{Need, have};
use crate::hip_host;

/// The variable that selects the device: `cpu`, `cuda:0`, `hip:0`, a simulated GPU such as `sim:sm_86`, or `hip-host`
/// for the hip backend on the host processor.
pub const VARIABLE: &str = "KILN_TEST_DEVICE";

/// The value of [`VARIABLE`] for the hip backend on the host processor. With it, tests for GPUs run without a GPU.
pub const HIP_HOST: &str = "hip-host";

/// Opens the test device.
///
/// # Errors
/// Why the device does not open, with the value of the variable.
pub fn open() -> Result<Device, String> {
    let Some(name) = std::env::var_os(VARIABLE) else {
        return kiln::open("cpu").map_err(|error| error.to_string());
    };
    let name = name.to_string_lossy();
    if name == HIP_HOST {
        static DEVICE: OnceLock<Device> = OnceLock::new();
        return Ok(DEVICE.get_or_init(hip_host::device).clone());
    }
    kiln::open(&name).map_err(|error| {
        format!(
            "{VARIABLE}={name}: {error}\nhelp: `tune devices` says which devices are here; without {VARIABLE} it is the cpu"
        )
    })
}

/// A stream of the test device. `None` means that this machine has no host compiler, and that the test must return at
/// once. The skip has been printed and counted.
///
/// # Panics
/// If the device does not open. Such a test is not skipped, because a skip would look like a pass.
pub fn stream(test: &str) -> Option<Stream> {
    if std::env::var_os(VARIABLE).is_none() && !have(test, &[Need::HostCompiler]) {
        return None;
    }
    let device = open().unwrap_or_else(|error| panic!("{test}: {error}"));
    Some(Stream::default_of(device))
}

/// Whether a device is the cpu backend, which supports check builds and chooses the order of threads.
pub fn is_cpu(device: &dyn DeviceBackend) -> bool {
    device.info().key.backend == Backend::Cpu
}

/// The kinds of builds that a device can launch.
pub fn builds(device: &dyn DeviceBackend) -> &'static [BuildKind] {
    match is_cpu(device) {
        true => &[BuildKind::Release, BuildKind::Check],
        false => &[BuildKind::Release],
    }
}

/// The dialect of the code that is generated for a device.
pub fn dialect(device: &dyn DeviceBackend) -> Backend {
    prepare::dialect(&device.info().key)
}

/// Runs tests of this program in a separate process, on another device.
///
/// # Panics
/// If the process does not start.
pub fn run_on(device: &str, tests: &[&str]) -> Output {
    let program = std::env::current_exe().expect("this program should have a path");
    let mut child = Command::new(program);
    child.args(tests).args(["--exact", "--nocapture"]);
    child
        .env(VARIABLE, device)
        .output()
        .expect("it should start")
}
