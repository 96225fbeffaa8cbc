//! Chooses the problem for which a row is launched: the row's own problem, or a small one.

use kiln_spec::expr::evaluate_int;
use kiln_spec::verification::{problems_of_config, verification_problems};
use kiln_spec::{Backend, KernelSpec, PlanError, Problem};
use thiserror::Error;

use super::SmokeOptions;
use crate::backend::cpu::CpuOptions;
use crate::device::Device;
use crate::kernel::Kernel;
use crate::selection::Choice;

/// The reason why a choice cannot be launched on a device for any problem.
#[derive(Clone, Debug, PartialEq, Error)]
pub(super) enum NoProblem {
    /// The spec excludes the device's backend.
    #[error("{why}")]
    LeftOut {
        /// The reason that the spec states.
        why: String,
    },
    /// The last problem that was tried has no launch plan, or the plan exceeds a limit of this device.
    #[error(transparent)]
    Plan(PlanError),
    /// The launch plan exceeds even the raised limits of the cpu device.
    #[error(
        "{error}: smoke tests raise the cpu device's limits, so that they can launch other devices' rows; `tune` keeps \
         {max_threads} threads and {shared_bytes} bytes of shared memory"
    )]
    RaisedLimit {
        /// The limit, and the value that exceeds it.
        error: PlanError,
        /// Maximum number of threads per block in `tune`.
        max_threads: u32,
        /// Maximum shared memory in `tune`, in bytes.
        shared_bytes: u32,
    },
    /// The row's own problem is too large, and no small problem is valid.
    #[error("its problem is too large for a smoke test, and no small one is valid")]
    TooLarge,
}

/// The problem for which to launch a choice. `like` is the problem for which the choice was tuned.
///
/// # Errors
/// The reason why the choice cannot be launched on this device for any problem.
pub(super) fn choose(
    kernel: &'static Kernel,
    device: &Device,
    choice: Choice,
    like: &Problem,
    options: &SmokeOptions,
) -> Result<Problem, NoProblem> {
    let spec = kernel.spec();
    if let Some(why) = spec.left_out_on(device.info().key.backend) {
        return Err(NoProblem::LeftOut { why });
    }
    let config = kernel.config(choice);
    let own = is_small(spec, like, options.max_work).then(|| like.clone());
    // The limits are left out here because the launch plan decides whether *this* device can launch the problem.
    let small = match choice {
        Choice::Row(_) => problems_of_config(spec, &config, like, None),
        Choice::Baseline => verification_problems(spec, &[], like, None),
    };
    let mut reason = None;
    // The largest verification problem has whole tiles and a remainder, so it is tried first.
    let small = small.into_iter().rev();
    for problem in own.into_iter().chain(small) {
        match launchable(kernel, device, choice, &problem) {
            Ok(()) => return Ok(problem),
            Err(error) => reason = Some(refusal(device, error)),
        }
    }
    Err(reason.unwrap_or(NoProblem::TooLarge))
}

fn launchable(
    kernel: &'static Kernel,
    device: &Device,
    choice: Choice,
    problem: &Problem,
) -> Result<(), PlanError> {
    let limits = &device.info().limits;
    kernel.plan(choice, problem, Some(limits))?.check(limits)
}

/// Converts the error of a launch plan. Smoke tests raise the limits of the cpu device above those of `tune`, so the
/// text of a limit error states both limits.
fn refusal(device: &Device, error: PlanError) -> NoProblem {
    let info = device.info();
    let ordinary = CpuOptions::default();
    let raised = info.limits.shared_bytes_per_block > ordinary.shared_bytes;
    if info.key.backend != Backend::Cpu || !raised || !matches!(error, PlanError::Limit { .. }) {
        return NoProblem::Plan(error);
    }
    NoProblem::RaisedLimit {
        error,
        max_threads: ordinary.max_threads,
        shared_bytes: ordinary.shared_bytes,
    }
}

fn is_small(spec: &KernelSpec, problem: &Problem, max_work: u64) -> bool {
    let at_most = |expr: &Option<kiln_spec::Expr>| {
        expr.as_ref().is_none_or(|expr| {
            evaluate_int(expr, problem).is_ok_and(|work| work <= max_work.into())
        })
    };
    let footprint = spec.footprint_bytes(problem);
    at_most(&spec.work.flops)
        && at_most(&spec.work.bytes)
        && footprint.is_ok_and(|bytes| bytes <= max_work)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cpu::CpuDevice;

    #[test]
    fn a_smoke_test_that_is_refused_on_the_cpu_says_what_tune_allows_there() {
        let ordinary = CpuOptions {
            threads: 1,
            ..CpuOptions::default()
        };
        let refused = |options| {
            let device = Device::from(CpuDevice::with_options(options).unwrap());
            let error = PlanError::Limit {
                what: "static and dynamic shared memory",
                value: 400_000,
                limit: device.info().limits.shared_bytes_per_block.into(),
            };
            refusal(&device, error).to_string()
        };
        assert_eq!(
            refused(ordinary.clone()),
            "static and dynamic shared memory is 400000, but the device allows 49152"
        );
        assert_eq!(
            refused(ordinary.with_raised_limits()),
            "static and dynamic shared memory is 400000, but the device allows 262144: smoke tests raise the cpu \
             device's limits, so that they can launch other devices' rows; `tune` keeps 1024 threads and 49152 bytes of \
             shared memory"
        );
    }
}
