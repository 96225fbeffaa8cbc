//! Simulations of absent GPUs. The row of an absent GPU is compiled for that GPU and launched on a simulation of it, if
//! this build can simulate the GPU and the compiler for it is installed.

use super::SmokeOptions;
use super::report::{Check, CheckOutcome, Failure};
use crate::device::{Device, DeviceError};
use crate::kernel::Kernel;
use crate::launch::error::LaunchCause;
use crate::rig::RigError;
use crate::selection::Choice;

/// Maximum work of a launch on a simulated GPU, in operations and bytes. Larger problems take minutes to simulate.
const MAX_SIMULATED_WORK: u64 = 2_000_000;

/// The simulation of an absent GPU, on which a row of that GPU is launched.
#[cfg_attr(
    not(feature = "sim"),
    allow(dead_code, reason = "such a build simulates nothing")
)]
pub(super) enum StandIn {
    /// The simulated device.
    Simulation(Device),
    /// The reason why this GPU cannot be simulated here.
    Missing(String),
}

/// The simulation on which `choice` is launched instead of on `device`. `None` if `device` is not the cpu device, if
/// `choice` is not a row of a GPU, or if this build simulates no GPU.
pub(super) fn of(kernel: &'static Kernel, choice: Choice, device: &Device) -> Option<StandIn> {
    let Choice::Row(row) = choice else {
        return None;
    };
    let row = &kernel.rows()[row];
    let present = device.info().key.backend;
    let gpu = [kiln_spec::Backend::Cuda, kiln_spec::Backend::Hip].contains(&row.device.backend);
    if present != kiln_spec::Backend::Cpu || !gpu {
        return None;
    }
    simulated(row.device.arch)
}

#[cfg(feature = "sim")]
fn simulated(arch: &str) -> Option<StandIn> {
    use crate::device::DeviceBackend as _;
    let device = match crate::backend::sim::SimDevice::open(arch) {
        Ok(device) => device,
        Err(error) => return Some(StandIn::Missing(first_line(&error))),
    };
    Some(match device.compiler() {
        Err(error) => StandIn::Missing(first_line(&error)),
        Ok(_) => StandIn::Simulation(device.into()),
    })
}

#[cfg(not(feature = "sim"))]
fn simulated(_arch: &str) -> Option<StandIn> {
    None
}

fn first_line(error: &impl ToString) -> String {
    let error = error.to_string();
    error.lines().next().unwrap_or_default().to_owned()
}

/// The options for launches on a simulated GPU.
pub(super) fn options(options: &SmokeOptions) -> SmokeOptions {
    SmokeOptions {
        max_work: options.max_work.min(MAX_SIMULATED_WORK),
        ..*options
    }
}

/// The reason why a launch on a simulated GPU gave no result about the row: the simulator does not implement an
/// instruction, or no small problem can be launched. `None` if the check is a result about the row.
pub(super) fn out_of_reach(check: &Check) -> Option<String> {
    let error = match &check.outcome {
        CheckOutcome::NotRun { why } => return Some(why.clone()),
        CheckOutcome::Passed { .. } => return None,
        CheckOutcome::Failed(Failure::Device(error))
        | CheckOutcome::Failed(Failure::Rig(RigError::Device(error))) => error,
        CheckOutcome::Failed(Failure::Launch(error)) => match error.cause() {
            LaunchCause::Device(error) => error,
            _ => return None,
        },
        CheckOutcome::Failed(_) => return None,
    };
    matches!(error, DeviceError::Unsupported { .. }).then(|| first_line(error))
}

#[cfg(test)]
mod tests {
    use kiln_spec::{Config, Problem};

    use super::*;

    #[cfg(feature = "sim")]
    #[test]
    fn a_gpu_without_a_simulation_is_missing_with_the_reason() {
        let Some(StandIn::Missing(why)) = simulated("gfx90a") else {
            panic!("gfx90a is simulated");
        };
        assert!(why.contains("`sim:gfx90a`"), "{why}");
        assert_eq!(why.lines().count(), 1);
    }

    #[test]
    fn an_instruction_that_is_not_implemented_is_out_of_reach_and_a_fault_is_not() {
        let unsupported = || DeviceError::Unsupported {
            what: "the instruction `tcgen05.mma`".into(),
        };
        let internal = DeviceError::Internal {
            what: "a launch".into(),
            text: "a read outside `x`".into(),
        };
        let check = |failure| Check {
            choice: Choice::Row(0),
            config: Config::new([]),
            tuned_on: None,
            problem: Problem::new([]),
            simulated_on: None,
            not_simulated: None,
            outcome: CheckOutcome::Failed(failure),
        };
        let rig = Failure::Rig(RigError::Device(unsupported()));
        for failure in [Failure::Device(unsupported()), rig] {
            let mut check = check(failure);
            let why = out_of_reach(&check);
            assert_eq!(
                why.as_deref(),
                Some("the instruction `tcgen05.mma` is not supported")
            );
            check.not_simulated = why;
            assert!(check.to_string().ends_with(
                "; its GPU was not simulated: the instruction `tcgen05.mma` is not supported"
            ));
        }
        assert_eq!(out_of_reach(&check(Failure::Device(internal))), None);
    }
}
