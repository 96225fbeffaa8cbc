//! Which problem a row is launched for: its own, or a small one.

use std::sync::Arc;

use kiln_spec::expr::evaluate_int;
use kiln_spec::space::verification_problems;
use kiln_spec::{Config, KernelSpec, PlanError, Problem};

use super::SmokeOptions;
use crate::device::Device;
use crate::kernel::Kernel;
use crate::select::Choice;

/// The problem to launch a choice for; `like` is the one it was tuned for.
///
/// The error is the reason why it cannot be launched here at all.
pub(super) fn choose(
    kernel: &'static Kernel,
    device: &Arc<dyn Device>,
    choice: Choice,
    like: &Problem,
    options: &SmokeOptions,
) -> Result<Problem, String> {
    let spec = kernel.spec();
    if let Some(why) = spec.left_out_on(device.info().key.backend) {
        return Err(why);
    }
    let config = kernel.config(choice);
    let own = is_small(spec, like, options.max_work).then(|| like.clone());
    let configs: &[Config] = match choice {
        Choice::Row(_) => std::slice::from_ref(&config),
        Choice::Baseline => &[],
    };
    // Without limits: whether *this* device can launch it is for the plan to say.
    let small = verification_problems(spec, configs, like, None);
    let mut reason = None;
    // The largest verification problem has whole tiles and a rest.
    let small = small.into_iter().rev();
    for problem in own.into_iter().chain(small) {
        match launchable(kernel, device, choice, &problem) {
            Ok(()) => return Ok(problem),
            Err(error) => reason = Some(error.to_string()),
        }
    }
    Err(reason.unwrap_or_else(|| {
        "its problem is too large for a smoke test, and no small one is valid".into()
    }))
}

fn launchable(
    kernel: &'static Kernel,
    device: &Arc<dyn Device>,
    choice: Choice,
    problem: &Problem,
) -> Result<(), PlanError> {
    let limits = &device.info().limits;
    kernel.plan(choice, problem, Some(limits))?.check(limits)
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
