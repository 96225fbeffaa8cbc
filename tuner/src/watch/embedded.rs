//! Kernels that are embedded in this program. They measure the device itself: each is its own baseline, and is timed in
//! the same session as the kernels that are compared with it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use kiln::compiler::BuildKind;
use kiln_spec::Problem;
use kiln_spec::parse::discover::{ModuleLayout, discover};
use kiln_spec::source::{SourceScan, SourceText};

use super::error::{EmbeddedError, WatchError};
use super::stage::WatchSession;
use kiln_lab::candidate::Which;
use kiln_measure::{ArmId, Survey, drive};
use kiln_project::{TableFolder, TunedKernel};

/// Creates a kernel from the text of a declaration and of a source.
///
/// # Errors
/// If the declaration or the source is invalid.
pub fn kernel(declaration: &str, source: &str) -> Result<TunedKernel, EmbeddedError> {
    const FILE: &str = "embedded.rs";
    let found = discover(declaration, &ModuleLayout::Root, &BTreeSet::new());
    let found = found.map_err(EmbeddedError::Syntax)?;
    let parsed = found
        .kernels
        .into_iter()
        .next()
        .ok_or(EmbeddedError::NoKernel)?;
    let parsed = parsed.kernel.map_err(|wrong| EmbeddedError::Wrong {
        rendered: wrong.render(FILE, declaration),
    })?;
    let source = SourceText::from_expanded(source);
    let scan = SourceScan::new(&source)?;
    Ok(TunedKernel {
        label: parsed.spec.name.clone(),
        spec: parsed.spec,
        source,
        scan,
        file: PathBuf::from(FILE),
        module: String::new(),
        in_library: false,
        package: "kiln".into(),
        tuned: TableFolder::new(""),
        accepts: Vec::new(),
        may_be_untuned: true,
    })
}

/// The time in nanoseconds of one launch of the kernel's baseline, in the median process. No process begins after
/// `budget_ns` is used up.
///
/// # Errors
/// If the time could not be measured.
pub fn time_ns(
    stage: &WatchSession<'_>,
    kernel: &TunedKernel,
    problem: &Problem,
    budget_ns: u64,
) -> Result<u64, WatchError> {
    let made = stage
        .workshop
        .make(kernel, Which::Baseline, problem, BuildKind::Release);
    let made = made.map_err(WatchError::Outcome)?;
    let scene = stage.scene(kernel, problem, &made.arm.config)?;
    let proof = scene.verify(&kernel.spec, &made);
    proof.map_err(WatchError::Outcome)?;
    let mut lab = scene.lab(&[&made.arm])?;
    let arm = ArmId(0);
    let seed = stage.seed_of(kernel, problem);
    let survey = Survey::of_one(arm, lab.span_ns(arm), stage.resolution(), seed);
    let mut survey = survey.within(budget_ns);
    drive(&mut lab, &mut survey, &mut |_| {});
    let time = survey.time(arm).ok_or_else(|| WatchError::NotMeasured {
        doubt: survey.doubt().cloned(),
    })?;
    Ok(time.median_ns.round() as u64)
}
