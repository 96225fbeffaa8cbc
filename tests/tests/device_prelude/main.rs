//! Tests of the portable device API, `kiln.cuh`. Its results are compared with plain Rust on the cpu, or on the device
//! that `KILN_TEST_DEVICE` selects. It is also compiled for every target.
#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
#![allow(clippy::too_many_lines, reason = "tables of cases are long")]

mod agreement;
mod described;
mod expected;
mod instructions;
mod kernels;
mod on_device;
mod on_targets;
mod planted;
mod stand_ins;

use kiln::Kernel;
use kiln::spec::Problem;

/// The verification problems and the declared problem, grouped by their element types.
fn problems_by_type(kernel: &'static Kernel) -> Vec<Vec<Problem>> {
    let spec = kernel.spec();
    let types = |problem: &Problem| -> Vec<_> {
        spec.types.iter().map(|ty| problem.get(&ty.name)).collect()
    };
    let mut groups: Vec<Vec<Problem>> = Vec::new();
    for problem in spec.problems.iter().chain(&spec.verify) {
        match groups
            .iter_mut()
            .find(|group| types(&group[0]) == types(problem))
        {
            Some(group) => group.push(problem.clone()),
            None => groups.push(vec![problem.clone()]),
        }
    }
    groups
}
