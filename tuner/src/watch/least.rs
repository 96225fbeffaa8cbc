//! What a launch costs by itself: the time of a kernel that does as good as nothing, measured in the same session as what
//! it is held against.

use std::collections::BTreeSet;
use std::path::PathBuf;

use kiln::compiler::BuildKind;
use kiln_spec::parse::discover::{Layout, discover};
use kiln_spec::source::{SourceScan, SourceText};

use super::stage::{self, Stage};
use crate::candidate::Which;
use crate::measure::{ArmId, Survey, drive};
use crate::project::TunedKernel;

/// One thread writes one number: the least that can be verified.
const SOURCE: &str = "\
extern \"C\" __global__ void kiln_least_launch(unsigned n, float* out) {
  if (blockIdx.x == 0 && threadIdx.x == LEAST) out[0] = (float)n;
}
";

const DECLARATION: &str = "\
#[tuned_kernel(
    source = \"least.cu\",
    params(LEAST in [0]),
    baseline(LEAST = 0),
    grid(n.div_ceil(32)),
    block(32),
    problems((n = 1)),
    verify((n = 1)),
    tolerance(relative = 0.0),
)]
unsafe extern \"C\" {
    fn kiln_least_launch(n: u32, #[len(n)] out: &mut [f32]);
}
";

/// From this share of a kernel's time on that a launch alone takes, the kernel is launch-bound: its throughput says more
/// about the host than about the kernel.
pub const LARGE_SHARE: f64 = 0.25;

/// The kernel that does nothing.
pub(super) fn kernel() -> Result<TunedKernel, String> {
    let found =
        discover(DECLARATION, &Layout::Root, &BTreeSet::new()).map_err(|error| error.message)?;
    let parsed = found
        .kernels
        .into_iter()
        .next()
        .ok_or("no kernel was found in its declaration")?;
    let parsed = parsed
        .kernel
        .map_err(|wrong| wrong.render("least.rs", DECLARATION))?;
    let source = SourceText::from_expanded(SOURCE);
    let scan = SourceScan::new(&source).map_err(|error| error.to_string())?;
    Ok(TunedKernel {
        spec: parsed.spec,
        source,
        scan,
        file: PathBuf::from("least.rs"),
        package: "kiln".into(),
        tuned: PathBuf::new(),
        accepts: Vec::new(),
    })
}

/// The time of a launch that does as good as nothing, in nanoseconds.
///
/// # Errors
/// Why it could not be measured, in words.
pub fn launch_ns(stage: &Stage<'_>) -> Result<u64, String> {
    let kernel = kernel()?;
    let problem = &kernel.spec.problems[0];
    let made = stage
        .workshop
        .make(&kernel, Which::Baseline, problem, BuildKind::Release);
    let made = made.map_err(|outcome| outcome.to_string())?;
    let scene = stage.scene(&kernel, problem, &made.arm.config)?;
    scene.verify(&kernel.spec, &made)?;
    let mut lab = scene.lab(&[&made.arm]).map_err(|fault| fault.to_string())?;
    let arm = ArmId(0);
    let seed = stage.seed_of(&kernel, problem);
    let mut survey = Survey::of_one(arm, lab.span_ns(arm), stage.resolution(), seed);
    drive(&mut lab, &mut survey, &mut |_| {});
    let time = survey.time(arm).ok_or_else(|| stage::why(survey.doubt()))?;
    Ok(time.median_ns.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_declaration_is_one_and_fits_its_source() {
        let kernel = kernel().unwrap();
        assert_eq!(kernel.spec.entry, "kiln_least_launch");
        assert!(kernel.scan.entry(&kernel.spec.entry).is_ok());
        let plan = kernel
            .spec
            .baseline_plan(&kernel.spec.problems[0], None)
            .unwrap();
        assert_eq!((plan.grid, plan.block), ([1, 1, 1], [32, 1, 1]));
    }
}
