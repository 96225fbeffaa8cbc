//! Checks, before anything is measured, that no other process computes on the GPU.
//!
//! Two programs on one GPU share its caches, memory and power, so the times of both are wrong. A candidate that crashes
//! the device may also crash the other program.

use std::fs;
use std::io::Write;
use std::thread::sleep;
use std::time::Duration;

use kiln::{DeviceError, device::DeviceBackend};
use kiln_spec::Backend;

use crate::error::LabError;
use crate::worker::SERIALIZING;

/// Number of attempts, with a pause of `PATIENCE` between them. Several attempts are needed because a worker that has
/// just ended is still listed for a moment.
const ASKED: usize = 10;
const PATIENCE: Duration = Duration::from_millis(300);

/// Checks that no other process computes on the device. If `allow` is set, or if the driver cannot list the processes,
/// prints a warning instead of returning an error. On a GPU, also prints a warning for each environment variable of
/// [`SERIALIZING`] that is set.
///
/// # Errors
/// [`LabError::SharedGpu`] if other processes compute on the device and `allow` is not set. The error lists these
/// processes.
pub fn check(name: &str, device: &dyn DeviceBackend, allow: bool) -> Result<(), LabError> {
    let warn = |text: String| {
        // A closed standard error must not end a run.
        let _ = writeln!(std::io::stderr(), "tune: warning: {text}");
    };
    if matches!(device.info().key.backend, Backend::Cuda | Backend::Hip) {
        let set = SERIALIZING
            .iter()
            .filter(|name| std::env::var_os(name).is_some());
        for name in set {
            warn(format!(
                "{name} is set: workers run without it, since a driver that waits for every launch spoils times"
            ));
        }
    }
    match patiently(device) {
        Ok(others) if others.is_empty() => {}
        Ok(others) if allow => warn(format!("{}; times will show it", shared(name, &others))),
        Ok(others) => return Err(LabError::SharedGpu(shared(name, &others))),
        Err(error) => warn(format!(
            "whether other processes compute on {name} is not known: {error}"
        )),
    }
    Ok(())
}

/// The IDs of the other processes in the last attempt; empty if an attempt found no other process.
fn patiently(device: &dyn DeviceBackend) -> Result<Vec<u32>, DeviceError> {
    for _ in 1..ASKED {
        if device.other_processes()?.is_empty() {
            return Ok(Vec::new());
        }
        sleep(PATIENCE);
    }
    device.other_processes()
}

fn shared(name: &str, others: &[u32]) -> String {
    let named: Vec<String> = others.iter().map(|&process| named(process)).collect();
    let (verb, plural) = match named.len() {
        1 => ("computes", ""),
        _ => ("compute", "es"),
    };
    format!("process{plural} {} {verb} on {name}, too", named.join(", "))
}

/// A process ID, followed by the process name if the system knows it.
fn named(process: u32) -> String {
    match fs::read_to_string(format!("/proc/{process}/comm")) {
        Ok(name) => format!("{process} ({})", name.trim()),
        Err(_) => process.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_told_by_number_and_name() {
        let own = std::process::id();
        let text = shared("cuda:0", &[own]);
        assert!(text.starts_with(&format!("process {own} (")), "{text}");
        assert!(text.ends_with(") computes on cuda:0, too"), "{text}");
        let text = shared("hip:1", &[u32::MAX, u32::MAX - 1]);
        let both = "processes 4294967295, 4294967294 compute on hip:1, too";
        assert_eq!(text, both);
    }

    #[test]
    fn a_device_that_is_not_shared_is_measured_without_a_word() {
        let device = kiln::open("fake").unwrap();
        assert!(check("fake", &*device, false).is_ok());
    }
}
