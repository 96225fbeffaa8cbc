//! Selects the configs that `tune inspect` inspects, and reads their resources on targets that this machine need not
//! have.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use kiln::artifacts::ArtifactCache;
use kiln_spec::codegen::barriers_of_config;
use kiln_spec::space::SearchSpace;
use kiln_spec::targets::CPU_LIMITS;
use kiln_spec::{Backend, Config, DeviceLimits, LaunchPlan, Problem, Reference, TextError};
use rayon::prelude::*;

use super::error::TargetError;
use super::first::{FIRST, FirstConfigs};
use super::target::CompileTarget;
use crate::error::Failure;
use kiln_lab::LabError;
use kiln_lab::candidate::inspect::{HostRow, InspectRow, corners};
use kiln_lab::candidate::{Which, Workshop};
use kiln_lab::scratch::temporary_folder;
use kiln_project::{Project, TunedKernel};

/// The name of the cpu device on the command line. Nothing is compiled for it, and it is inspected only if it is
/// specified.
pub const HOST: &str = "cpu";

/// Selects configs of a kernel. If no field other than `problems` is set, the baseline and the baked rows are selected.
#[derive(Clone, Copy, Debug)]
pub struct ConfigSelector<'a> {
    /// Whether to select the baseline.
    pub baseline: bool,
    /// Whether to select the configs of baked rows.
    pub baked: bool,
    /// Whether to select the corners of the search space.
    pub corners: bool,
    /// A config to select, as text.
    pub config: Option<&'a str>,
    /// Selects what a run compiles first: the baseline, the reference entry, and the configs that it tries first.
    /// `None` to select nothing of it.
    pub first: Option<FirstConfigs<'a>>,
    /// The problems, as text. If there are none, the first declared problem; for [`Self::first`], all problems that the
    /// kernel declares for the device.
    pub problems: &'a [String],
}

/// A config to inspect.
pub struct Subject<'a> {
    pub(super) kernel: &'a TunedKernel,
    pub(super) problem: Problem,
    pub(super) what: String,
    candidate: Candidate,
}

/// What is compiled of a kernel.
#[derive(Clone, Debug)]
enum Candidate {
    Baseline,
    /// The entry that the spec specifies as the reference.
    Reference(String),
    Config(Config),
}

/// The inspected configs of one target.
#[derive(Debug)]
pub struct Inspection {
    /// One row per subject.
    pub rows: Vec<InspectRow>,
    /// Number of compiles that ran. The other artifacts were in the cache.
    pub compiles: u64,
    /// Number of subjects of which nothing is known, because the compiler was lost or the disk was full.
    pub lost: usize,
    /// How long the inspection took.
    pub elapsed: Duration,
}

impl Inspection {
    /// Whether a subject does not compile, cannot be launched, or may succeed in another attempt. A config that a run
    /// tries first may fail, as in the run, which goes on without it.
    pub fn failed(&self) -> bool {
        let mut needed = self.rows.iter().filter(|row| row.what != FIRST);
        self.lost > 0 || needed.any(|row| row.error.is_some())
    }
}

/// Compiles the subjects in parallel and reads their resources.
///
/// # Errors
/// If the artifact cache or a temporary folder cannot be used.
pub fn inspect(target: &CompileTarget, subjects: &[Subject<'_>]) -> Result<Inspection, Failure> {
    let start = Instant::now();
    let folder = temporary_folder("inspect")?;
    let artifacts = ArtifactCache::in_cache(&kiln_cache::location::from_environment()?)
        .map_err(LabError::Device)?;
    let workshop = target.workshop(&artifacts, folder.path());
    let rows: Vec<(InspectRow, bool)> = subjects
        .par_iter()
        .map(|subject| row(target, &workshop, subject))
        .collect();
    Ok(Inspection {
        lost: rows.iter().filter(|(_, lost)| *lost).count(),
        rows: rows.into_iter().map(|(row, _)| row).collect(),
        compiles: workshop.compiles.load(Ordering::Relaxed),
        elapsed: start.elapsed(),
    })
}

/// Describes how the cpu device runs a config.
pub fn host_row(subject: &Subject<'_>) -> HostRow {
    let (kernel, problem, limits) = (subject.kernel, &subject.problem, Some(&CPU_LIMITS));
    let spec = &kernel.spec;
    let (entry, plan) = match &subject.candidate {
        Candidate::Config(config) => (&spec.entry, spec.plan(config, problem, limits)),
        Candidate::Reference(entry) => (entry, spec.baseline_plan(problem, limits)),
        Candidate::Baseline => (&spec.baseline.entry, spec.baseline_plan(problem, limits)),
    };
    let config = match &subject.candidate {
        Candidate::Config(config) => config,
        Candidate::Reference(_) | Candidate::Baseline => &spec.baseline.config,
    };
    let source = (&kernel.source, &kernel.scan);
    let barriers = barriers_of_config(source, spec, entry, config, problem);
    // What cannot be generated is never launched.
    let unknown = barriers.as_ref().err().map(ToString::to_string);
    let barriers = barriers.unwrap_or_default();
    HostRow {
        target: HOST,
        package: kernel.package.clone(),
        kernel: spec.name.clone(),
        problem: problem.to_string(),
        what: subject.what.clone(),
        config: subject.config_text(),
        runs: HostRow::runs(&barriers),
        barriers,
        threads: plan.as_ref().ok().map(LaunchPlan::threads_per_block),
        error: match plan {
            Ok(_) => unknown.or_else(|| subject.excluded(&CPU_LIMITS)),
            Err(error) => Some(error.to_string()),
        },
    }
}

impl Subject<'_> {
    pub(super) fn which(&self) -> Which<'_> {
        match &self.candidate {
            Candidate::Baseline => Which::Baseline,
            Candidate::Reference(entry) => Which::Reference(entry),
            Candidate::Config(config) => Which::Config(config),
        }
    }

    /// Why a device with these limits does not launch the config on the problem; `None` if it does.
    fn excluded(&self, limits: &DeviceLimits) -> Option<String> {
        let (spec, problem, limits) = (&self.kernel.spec, &self.problem, Some(limits));
        let valid = match &self.candidate {
            Candidate::Config(config) => spec.check_config(config, problem, limits),
            Candidate::Baseline | Candidate::Reference(_) => spec.check_baseline(problem, limits),
        };
        let error = valid.err()?;
        Some(format!("cannot be launched on {problem}: {error}"))
    }

    pub(super) fn config_text(&self) -> String {
        let spec = &self.kernel.spec;
        match &self.candidate {
            Candidate::Config(config) => config.to_string(),
            Candidate::Reference(entry) => format!("entry {entry}"),
            Candidate::Baseline if spec.baseline_is_another_entry() => {
                format!("entry {}", spec.baseline.entry)
            }
            Candidate::Baseline => spec.baseline.config.to_string(),
        }
    }
}

/// The row of a subject, and whether the compiler was lost, so that another attempt may succeed.
fn row(
    target: &CompileTarget,
    workshop: &Workshop<'_>,
    subject: &Subject<'_>,
) -> (InspectRow, bool) {
    let mut lost = false;
    let spec = &subject.kernel.spec;
    let mut row = InspectRow {
        target: target.known.arch,
        package: subject.kernel.package.clone(),
        kernel: spec.name.clone(),
        problem: subject.problem.to_string(),
        what: subject.what.clone(),
        config: subject.config_text(),
        figures: None,
        error: None,
    };
    match workshop.inspect(subject.kernel, subject.which(), &subject.problem) {
        Ok(inspected) => row.fill(target.known, &inspected),
        Err(outcome) => {
            lost = !outcome.stands(1);
            row.error = Some(outcome.to_string());
        }
    }
    if row.error.is_none() {
        row.error = subject.excluded(&target.info.limits);
    }
    (row, lost)
}

/// The selected configs of all kernels of a project that support a backend. Without a selection, the baseline and the
/// baked rows.
///
/// # Errors
/// If a table cannot be read, a requested config or problem is not valid for a kernel, or a search space cannot be
/// built.
pub fn subjects<'a>(
    wanted: &ConfigSelector<'_>,
    project: &'a Project,
    device: (Backend, &DeviceLimits),
) -> Result<Vec<Subject<'a>>, Failure> {
    let unasked = wanted.selects_nothing();
    let wanted = &ConfigSelector {
        baseline: wanted.baseline || unasked,
        ..*wanted
    };
    let mut subjects = Vec::new();
    let supported = |kernel: &&TunedKernel| kernel.spec.runs_on(device.0);
    for kernel in project.kernels.iter().filter(supported) {
        for (problem, only_first) in problems(wanted, kernel, device.0)? {
            let candidates = match only_first {
                false => candidates(wanted, kernel, &problem, device)?,
                true => first_candidates(wanted, kernel, &problem, device)?,
            };
            let subject = |(what, candidate): (&str, Candidate)| Subject {
                kernel,
                problem: problem.clone(),
                what: what.into(),
                candidate,
            };
            subjects.extend(candidates.into_iter().map(subject));
        }
        if wanted.baked || unasked {
            let mut rows = baked(wanted, project, kernel)?;
            // The committed table and the local table may contain the same config with different figures, so duplicates
            // are removed.
            let mut seen = HashSet::new();
            rows.retain(|row| {
                seen.insert((row.problem.to_string(), row.what.clone(), row.config_text()))
            });
            subjects.extend(rows);
        }
    }
    Ok(subjects)
}

impl ConfigSelector<'_> {
    fn selects_nothing(&self) -> bool {
        let any = self.baseline || self.baked || self.corners;
        !any && self.config.is_none() && self.first.is_none()
    }
}

/// The candidates that `wanted` selects of a kernel and problem, except baked rows. Each has a text that says what it
/// is.
fn candidates(
    wanted: &ConfigSelector<'_>,
    kernel: &TunedKernel,
    problem: &Problem,
    device: (Backend, &DeviceLimits),
) -> Result<Vec<(&'static str, Candidate)>, Failure> {
    let mut candidates = first_candidates(wanted, kernel, problem, device)?;
    if wanted.baseline && candidates.is_empty() {
        candidates.push(("baseline", Candidate::Baseline));
    }
    if let Some(text) = wanted.config {
        let config = kernel.spec.parse_config(text);
        let config = config.map_err(|error| of_text(kernel, error))?;
        candidates.push(("config", Candidate::Config(config)));
    }
    if wanted.corners {
        let space = SearchSpace::build(&kernel.spec, problem, device.1);
        let space = space.map_err(|error| TargetError::Space {
            kernel: kernel.spec.name.clone(),
            error,
        })?;
        let corners = corners(&space).into_iter().map(Candidate::Config);
        candidates.extend(corners.map(|corner| ("corner", corner)));
    }
    Ok(candidates)
}

/// What a run compiles first, if `wanted` selects it: the baseline, the reference entry, and the configs that the run
/// tries first.
fn first_candidates(
    wanted: &ConfigSelector<'_>,
    kernel: &TunedKernel,
    problem: &Problem,
    device: (Backend, &DeviceLimits),
) -> Result<Vec<(&'static str, Candidate)>, Failure> {
    let Some(first) = wanted.first else {
        return Ok(Vec::new());
    };
    let mut candidates = vec![("baseline", Candidate::Baseline)];
    if let Some(Reference::Entry(entry)) = &kernel.spec.reference {
        candidates.push(("reference", Candidate::Reference(entry.clone())));
    }
    let configs = first.of(kernel, problem, device)?.into_iter();
    candidates.extend(configs.map(|config| (FIRST, Candidate::Config(config))));
    Ok(candidates)
}

/// The selected problems. The flag is `true` for a problem of which only the configs that a run tries first are
/// selected. Without problems on the command line, these are all declared problems except the first.
fn problems(
    wanted: &ConfigSelector<'_>,
    kernel: &TunedKernel,
    backend: Backend,
) -> Result<Vec<(Problem, bool)>, Failure> {
    if wanted.problems.is_empty() {
        let most = if wanted.first.is_some() {
            usize::MAX
        } else {
            1
        };
        let declared = kernel.spec.problems_on(backend).take(most).cloned();
        let declared = declared.enumerate();
        return Ok(declared
            .map(|(place, problem)| (problem, place > 0))
            .collect());
    }
    let parse = |text: &String| {
        let problem = kernel.spec.parse_problem(text);
        problem.map_err(|error| Failure::from(of_text(kernel, error)))
    };
    let parsed = wanted.problems.iter().map(parse);
    parsed
        .map(|problem| problem.map(|problem| (problem, false)))
        .collect()
}

/// The configs of the baked rows of a kernel, for all devices.
///
/// # Errors
/// If a table cannot be read.
pub fn baked<'a>(
    wanted: &ConfigSelector<'_>,
    project: &Project,
    kernel: &'a TunedKernel,
) -> Result<Vec<Subject<'a>>, Failure> {
    let mut subjects = Vec::new();
    let local = project.local_tables(kernel);
    for row in kernel.tuned.rows_with(&local, &kernel.spec.name)? {
        let parsed = kernel
            .spec
            .parse_problem(&row.problem)
            .and_then(|problem| Ok((problem, kernel.spec.parse_config(&row.config)?)));
        // A row from an older spec does not describe the current kernel.
        let Ok((problem, config)) = parsed else {
            continue;
        };
        if !wanted.problems.is_empty() && !wanted.problems.contains(&row.problem) {
            continue;
        }
        subjects.push(Subject {
            kernel,
            problem,
            what: format!("baked for {}", row.device),
            candidate: match row.is_baseline() {
                true => Candidate::Baseline,
                false => Candidate::Config(config),
            },
        });
    }
    Ok(subjects)
}

fn of_text(kernel: &TunedKernel, error: TextError) -> TargetError {
    let kernel = kernel.spec.name.clone();
    TargetError::Text { kernel, error }
}
