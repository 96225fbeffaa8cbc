//! Runs the check build of a choice in several orders of its threads, on the cpu device.

use std::sync::Arc;

use kiln_spec::{Backend, Problem};

use super::expected::expected;
use super::report::Failure;
use super::{ComparedWith, SmokeOptions, problem};
use crate::compiler::{BuildKind, CompileError};
use crate::device::stream::Stream;
use crate::device::{Device, DeviceError};
use crate::kernel::Kernel;
use crate::prepare;
use crate::rig::{Layout, Rig, RigError};
use crate::selection::Choice;

/// Maximum work of a problem for a check build (a build that checks every memory access), in operations and bytes.
const MAX_CHECKED_WORK: u64 = 2_000_000;

/// What a check build without a fault showed.
#[derive(Debug, Default)]
pub(super) struct Orders {
    /// The reason why no check build ran. `None` if one ran, or if the device is not the cpu device.
    pub not_checked: Option<String>,
    /// What is right on this device, but not on every GPU.
    pub remark: Option<String>,
}

/// On the cpu device, runs a check build in several thread orders. This detects races that one order hides, accesses
/// out of bounds, and divergent barriers. The problem is small because every access is checked.
pub(super) fn check(
    kernel: &'static Kernel,
    stream: &Stream,
    choice: Choice,
    like: &Problem,
    seed: u64,
) -> Result<Orders, Failure> {
    let device = stream.device();
    if device.info().key.backend != Backend::Cpu {
        return Ok(Orders::default());
    }
    let not_checked = |why: String| Orders {
        not_checked: Some(why),
        remark: None,
    };
    let options = SmokeOptions {
        seed,
        max_work: MAX_CHECKED_WORK,
        simulate_absent: false,
    };
    let problem = match problem::choose(kernel, device, choice, like, &options) {
        Ok(problem) => problem,
        Err(why) => return Ok(not_checked(why.to_string())),
    };
    let refused = |error| Failure::Launch(crate::LaunchError::new(kernel.name(), error));
    let plan = kernel
        .plan(choice, &problem, Some(&device.info().limits))
        .map_err(|error| refused(crate::LaunchCause::Plan(error)))?;
    let backend = prepare::dialect(&device.info().key);
    let config = kernel.config(choice);
    let unit = prepare::generate(kernel, kernel.entry(choice), &config, &problem, backend)?;
    let artifact = match prepare::compile(&**device, &unit, BuildKind::Check) {
        Ok(artifact) => artifact,
        // A program with embedded images also runs on machines without a compiler.
        Err(CompileError::NotFound { what, .. }) => {
            return Ok(not_checked(format!("{what} was not found")));
        }
        Err(error) => return Err(prepare::PrepareError::from(error).into()),
    };
    let release = prepare::load(&**device, &unit, &artifact)?.release;
    let spec = Arc::new(kernel.spec().clone());
    let rig = Rig::of_config(stream, &spec, &config, &problem, seed, Layout::Zones)?;
    let expected = expected(kernel, stream, choice, &problem, seed);
    let want = match &expected {
        Ok((want, compared_with)) if *compared_with != ComparedWith::Nothing => want.clone(),
        // Without expected outputs, an ordinary launch supplies them, because a kernel without a race computes the same
        // outputs in every order.
        _ => {
            rig.launch(&release, &plan)?;
            rig.outputs()?
        }
    };
    let checked = rig.check_in_all_orders(&release, &plan, seed, &want)?;
    expected?;
    Ok(Orders {
        not_checked: None,
        remark: checked.remark,
    })
}

/// The fault of a choice that a check build on the cpu device finds; `None` if it finds none, or if the device is another
/// one.
pub(super) fn fault(
    kernel: &'static Kernel,
    device: &Device,
    choice: Choice,
    like: &Problem,
    seed: u64,
) -> Option<Failure> {
    crate::data::inputs::provide(kernel);
    let stream = Stream::default_of(device.clone());
    let failure = check(kernel, &stream, choice, like, seed).err()?;
    let is_fault = matches!(
        failure,
        Failure::Rig(RigError::Device(DeviceError::KernelFault { .. }))
    );
    is_fault.then_some(failure)
}
