//! Selects the configs that `tune inspect` inspects, and reads their resources on targets that this machine need not
//! have.

use std::collections::HashSet;

use kiln::artifacts::ArtifactCache;
use kiln_spec::space::SearchSpace;
use kiln_spec::targets::CPU_LIMITS;
use kiln_spec::{Backend, Config, DeviceLimits, LaunchPlan, Problem, TextError};
use rayon::prelude::*;

use super::error::TargetError;
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

/// Selects configs of a kernel. If no field other than `problem` is set, the baseline and the baked rows are selected.
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
    /// The problem, as text; `None` for the first declared problem.
    pub problem: Option<&'a str>,
}

/// A config to inspect.
pub struct Subject<'a> {
    pub(super) kernel: &'a TunedKernel,
    pub(super) problem: Problem,
    pub(super) what: String,
    /// The config; `None` for the baseline.
    config: Option<Config>,
}

/// Compiles the subjects in parallel and reads their resources.
///
/// # Errors
/// If the artifact cache or a temporary folder cannot be used.
pub fn inspect(
    target: &CompileTarget,
    subjects: &[Subject<'_>],
) -> Result<Vec<InspectRow>, Failure> {
    let folder = temporary_folder("inspect")?;
    let artifacts = ArtifactCache::in_cache(&kiln_cache::location::from_environment()?)
        .map_err(LabError::Device)?;
    let workshop = target.workshop(&artifacts, folder.path());
    Ok(subjects
        .par_iter()
        .map(|subject| row(target, &workshop, subject))
        .collect())
}

/// Describes how the cpu device runs a config.
pub fn host_row(subject: &Subject<'_>) -> HostRow {
    let (kernel, problem, limits) = (subject.kernel, &subject.problem, Some(&CPU_LIMITS));
    let (entry, plan) = match &subject.config {
        Some(config) => (
            &kernel.spec.entry,
            kernel.spec.plan(config, problem, limits),
        ),
        None => (
            &kernel.spec.baseline.entry,
            kernel.spec.baseline_plan(problem, limits),
        ),
    };
    let barriers = kernel.scan.barriers(entry);
    HostRow {
        target: HOST,
        package: kernel.package.clone(),
        kernel: kernel.spec.name.clone(),
        problem: problem.to_string(),
        what: subject.what.clone(),
        config: subject.config_text(),
        runs: HostRow::runs(&barriers),
        barriers: barriers.into_iter().map(str::to_owned).collect(),
        threads: plan.as_ref().ok().map(LaunchPlan::threads_per_block),
        error: match plan {
            Ok(_) => subject.excluded(&CPU_LIMITS),
            Err(error) => Some(error.to_string()),
        },
    }
}

impl Subject<'_> {
    pub(super) fn which(&self) -> Which<'_> {
        self.config.as_ref().map_or(Which::Baseline, Which::Config)
    }

    /// Why a device with these limits does not launch the config on the problem; `None` if it does.
    fn excluded(&self, limits: &DeviceLimits) -> Option<String> {
        let (spec, problem, limits) = (&self.kernel.spec, &self.problem, Some(limits));
        let valid = match &self.config {
            Some(config) => spec.check_config(config, problem, limits),
            None => spec.check_baseline(problem, limits),
        };
        let error = valid.err()?;
        Some(format!("cannot be launched on {problem}: {error}"))
    }

    pub(super) fn config_text(&self) -> String {
        let spec = &self.kernel.spec;
        match &self.config {
            Some(config) => config.to_string(),
            None if spec.baseline_is_another_entry() => format!("entry {}", spec.baseline.entry),
            None => spec.baseline.config.to_string(),
        }
    }
}

fn row(target: &CompileTarget, workshop: &Workshop<'_>, subject: &Subject<'_>) -> InspectRow {
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
        Err(outcome) => row.error = Some(outcome.to_string()),
    }
    if row.error.is_none() {
        row.error = subject.excluded(&target.info.limits);
    }
    row
}

/// The selected configs of all kernels of a project that support a backend. Without a selection, the baseline and the
/// baked rows.
///
/// # Errors
/// If a table cannot be read, or a requested config or problem is not valid for a kernel.
pub fn subjects<'a>(
    wanted: &ConfigSelector<'_>,
    project: &'a Project,
    (backend, limits): (Backend, &DeviceLimits),
) -> Result<Vec<Subject<'a>>, Failure> {
    let unasked = !(wanted.baseline || wanted.baked || wanted.corners || wanted.config.is_some());
    let mut subjects = Vec::new();
    let supported = |kernel: &&TunedKernel| kernel.spec.runs_on(backend);
    for kernel in project.kernels.iter().filter(supported) {
        for problem in problems(wanted, kernel)? {
            let subject = |(what, config): (&str, Option<Config>)| Subject {
                kernel,
                problem: problem.clone(),
                what: what.into(),
                config,
            };
            let baseline = (wanted.baseline || unasked).then_some(("baseline", None));
            let named = configs(wanted, kernel, &problem, limits)?;
            let named = named.into_iter().map(|(what, config)| (what, Some(config)));
            subjects.extend(baseline.into_iter().chain(named).map(subject));
        }
        if wanted.baked || unasked {
            let mut rows = baked(wanted, project, kernel)?;
            // The committed table and the local table may contain the same config with different figures, so duplicates
            // are removed.
            let mut seen = HashSet::new();
            rows.retain(|row| {
                let config = row.config.as_ref().map(ToString::to_string);
                seen.insert((row.problem.to_string(), row.what.clone(), config))
            });
            subjects.extend(rows);
        }
    }
    Ok(subjects)
}

/// The config that is specified as text, and the corners, if they are selected.
fn configs(
    wanted: &ConfigSelector<'_>,
    kernel: &TunedKernel,
    problem: &Problem,
    limits: &DeviceLimits,
) -> Result<Vec<(&'static str, Config)>, Failure> {
    let mut configs = Vec::new();
    if let Some(text) = wanted.config {
        let config = kernel.spec.parse_config(text);
        configs.push(("config", config.map_err(|error| of_text(kernel, error))?));
    }
    if wanted.corners {
        let space = SearchSpace::build(&kernel.spec, problem, limits);
        let space = space.map_err(|error| TargetError::Space {
            kernel: kernel.spec.name.clone(),
            error,
        })?;
        configs.extend(corners(&space).into_iter().map(|config| ("corner", config)));
    }
    Ok(configs)
}

/// The selected problem; by default the first declared problem.
fn problems(wanted: &ConfigSelector<'_>, kernel: &TunedKernel) -> Result<Vec<Problem>, Failure> {
    match wanted.problem {
        Some(text) => {
            let problem = kernel
                .spec
                .parse_problem(text)
                .map_err(|error| of_text(kernel, error))?;
            Ok(vec![problem])
        }
        None => Ok(kernel.spec.problems.iter().take(1).cloned().collect()),
    }
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
        if wanted.problem.is_some_and(|text| text != row.problem) {
            continue;
        }
        subjects.push(Subject {
            kernel,
            problem,
            what: format!("baked for {}", row.device),
            config: (!row.is_baseline()).then_some(config),
        });
    }
    Ok(subjects)
}

fn of_text(kernel: &TunedKernel, error: TextError) -> TargetError {
    let kernel = kernel.spec.name.clone();
    TargetError::Text { kernel, error }
}
