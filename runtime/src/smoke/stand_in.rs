//! Simulations that stand in for absent GPUs: the row of a GPU is launched from that GPU's own code, if this build can
//! simulate the GPU and the compiler for it is installed.

use super::SmokeOptions;
use super::report::{Check, CheckOutcome, Failure};
use crate::device::{Device, DeviceError};
use crate::kernel::Kernel;
use crate::launch::error::LaunchCause;
use crate::rig::RigError;
use crate::selection::Choice;

/// Maximum work of a launch on a simulated GPU, in operations and bytes: larger problems take minutes there.
const MAX_SIMULATED_WORK: u64 = 2_000_000;

/// The simulation on which a choice is launched instead of on the cpu device; `None` if it is not the row of a GPU, or
/// if nothing can simulate that GPU here.
pub(super) fn of(kernel: &'static Kernel, choice: Choice, device: &Device) -> Option<Device> {
    let Choice::Row(row) = choice else {
        return None;
    };
    let row = &kernel.rows()[row];
    let present = device.info().key.backend;
    if present != kiln_spec::Backend::Cpu || row.device.backend == present {
        return None;
    }
    simulated(row.device.arch)
}

#[cfg(feature = "sim")]
fn simulated(arch: &str) -> Option<Device> {
    use crate::device::DeviceBackend as _;
    let device = crate::backend::sim::SimDevice::open(arch).ok()?;
    device.compiler().ok()?;
    Some(device.into())
}

#[cfg(not(feature = "sim"))]
fn simulated(_arch: &str) -> Option<Device> {
    None
}

/// The options for launches on a simulated GPU.
pub(super) fn options(options: &SmokeOptions) -> SmokeOptions {
    SmokeOptions {
        max_work: options.max_work.min(MAX_SIMULATED_WORK),
        ..*options
    }
}

/// Whether a check says more about the simulator than about the row: an instruction that it does not implement, or no
/// problem that is small enough for it.
pub(super) fn is_out_of_reach(check: &Check) -> bool {
    let error = match &check.outcome {
        CheckOutcome::NotRun { .. } => return true,
        CheckOutcome::Passed { .. } => return false,
        CheckOutcome::Failed(Failure::Device(error))
        | CheckOutcome::Failed(Failure::Rig(RigError::Device(error))) => error,
        CheckOutcome::Failed(Failure::Launch(error)) => match error.cause() {
            LaunchCause::Device(error) => error,
            _ => return false,
        },
        CheckOutcome::Failed(_) => return false,
    };
    matches!(error, DeviceError::Unsupported { .. })
}
