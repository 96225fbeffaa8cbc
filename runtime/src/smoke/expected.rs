//! The expected outputs of a smoke test.

use std::sync::Arc;

use kiln_spec::{Backend, Problem, Reference};

use super::compared_with::ComparedWith;
use super::report::Failure;
use crate::compiler::BuildKind;
use crate::device::Function;
use crate::device::stream::Stream;
use crate::kernel::Kernel;
use crate::prepare::{self, PrepareError};
use crate::rig::{Expected, Layout, Rig};
use crate::selection::Choice;

/// The expected outputs of a choice for a problem and seed, and where they come from.
pub(super) fn expected(
    kernel: &'static Kernel,
    stream: &Stream,
    choice: Choice,
    problem: &Problem,
    seed: u64,
) -> Result<(Expected, ComparedWith), Failure> {
    let spec = kernel.spec();
    if let Some(reference) = kernel.reference() {
        let expected = Expected::by_reference(reference, spec, problem, seed)?;
        expected.check_tolerance(spec)?;
        return Ok((expected, ComparedWith::Reference));
    }
    let device = stream.device();
    let limits = &device.info().limits;
    let Ok(plan) = kernel.plan(Choice::Baseline, problem, Some(limits)) else {
        return Ok((Expected::default(), ComparedWith::Nothing));
    };
    let (function, grade) = match (&spec.reference, choice) {
        (Some(Reference::Entry(entry)), _) => (
            reference_entry(kernel, stream, entry, problem)?,
            ComparedWith::Entry,
        ),
        (_, Choice::Row(_)) => {
            let baseline = prepare::get(kernel, device, Choice::Baseline, problem)?;
            (baseline.release.clone(), ComparedWith::Baseline)
        }
        (_, Choice::Baseline) => return Ok((Expected::default(), ComparedWith::Nothing)),
    };
    let rig = Rig::new(
        stream,
        &Arc::new(spec.clone()),
        problem,
        seed,
        Layout::Zones,
    )?;
    rig.launch(&function, &plan)?;
    let outputs = rig.outputs()?;
    // The fake device computes only kernels with registered host code. Its other kernels write nothing.
    if device.info().key.backend != Backend::Fake {
        outputs.check_tolerance(spec)?;
    }
    Ok((outputs, grade))
}

/// Loads the entry that the spec specifies as the reference. It is compiled with the baseline's config.
fn reference_entry(
    kernel: &'static Kernel,
    stream: &Stream,
    entry: &str,
    problem: &Problem,
) -> Result<Function, PrepareError> {
    let device = &**stream.device();
    let config = &kernel.spec().baseline.config;
    let backend = prepare::dialect(&device.info().key);
    let unit = prepare::generate(kernel, entry, config, problem, backend)?;
    let artifact = prepare::compile(device, &unit, BuildKind::Release)?;
    Ok(prepare::load(device, &unit, &artifact)?.release)
}
