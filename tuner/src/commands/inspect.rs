//! `tune inspect`: registers, spills, shared memory and occupancy of configs, compiled for targets that need not be here.

use std::collections::HashSet;
use std::process::ExitCode;

use kiln::artifacts::ArtifactCache;
use kiln_spec::space::SearchSpace;
use kiln_spec::targets::CPU_LIMITS;
use kiln_spec::{Config, DeviceLimits, LaunchPlan, Problem};
use rayon::prelude::*;
use serde::Serialize;

use super::output::{checked, print, print_json, read_project};
use crate::candidate::inspect::{HostRow, InspectRow, corners, host_to_text, to_text};
use crate::candidate::{Which, Workshop};
use crate::cli::InspectArgs;
use crate::cli::options::jobs;
use crate::compile_only::{self, Target};
use crate::error::Failure;
use crate::project::{Project, TunedKernel};
use crate::tables::local;

/// A config to look at.
struct Subject<'a> {
    kernel: &'a TunedKernel,
    problem: Problem,
    what: String,
    /// None for the baseline.
    config: Option<Config>,
}

pub(super) fn run(args: &InspectArgs) -> Result<ExitCode, Failure> {
    let Words {
        targets: arches,
        kernels,
        named,
    } = words(args);
    let mut package = args.package.clone();
    package.kernels.extend(kernels);
    let project = read_project(&package)?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(jobs(args.jobs)?)
        .build()
        .map_err(|error| Failure::Other(format!("cannot start compile threads: {error}")))?;
    if args.baked {
        say_where_nothing_is_baked(args, &project)?;
    }
    let (hosts, arches): (Vec<_>, Vec<_>) = arches.into_iter().partition(|arch| arch == HOST);
    let (targets, missing) = match &arches[..] {
        [] => (Vec::new(), Missing::new()),
        arches => open(arches)?,
    };
    let mut rows = Vec::new();
    for target in &targets {
        let subjects = subjects(args, &project, &target.info.limits)?;
        rows.extend(pool.install(|| inspect(target, &subjects))?);
    }
    let mut host_rows = Vec::new();
    if !hosts.is_empty() {
        let subjects = subjects(args, &project, &CPU_LIMITS)?;
        host_rows.extend(subjects.iter().map(host_row));
    }
    if args.output.json {
        let rows = rows.iter().map(Row::Gpu);
        let all: Vec<_> = rows.chain(host_rows.iter().map(Row::Host)).collect();
        print_json(&all)?;
    } else {
        let title = |arch: &str| {
            let target = targets.iter().find(|target| target.known.arch == arch);
            target.map_or_else(String::new, Target::title)
        };
        print(&to_text(&rows, title));
        print(&host_to_text(&host_rows));
    }
    for (arches, why) in &missing {
        eprintln!("not compiled for {}: {why}", arches.join(", "));
    }
    // Without a word about targets, those that can be compiled for are meant.
    let all_there = missing.is_empty() || !named;
    Ok(checked(
        all_there
            && rows.iter().all(|row| row.error.is_none())
            && host_rows.iter().all(|row| row.error.is_none()),
    ))
}

/// The word that means the cpu device: nothing is compiled for it, and it is asked for by name alone.
const HOST: &str = "cpu";

/// A row as JSON.
#[derive(Serialize)]
#[serde(untagged)]
enum Row<'a> {
    Gpu(&'a InspectRow),
    Host(&'a HostRow),
}

/// What the words of the command line name.
struct Words {
    targets: Vec<String>,
    kernels: Vec<String>,
    /// Whether a target was named; if none was, every known one is meant.
    named: bool,
}

/// `--target sm_86 sm_89 gemm` is two targets and a kernel.
fn words(args: &InspectArgs) -> Words {
    let known = compile_only::names();
    let is_target = |word: &String| word == HOST || known.contains(&word.as_str());
    let (more, kernels): (Vec<String>, _) = args.names.iter().cloned().partition(is_target);
    let mut targets: Vec<String> = Vec::new();
    for arch in args.targets.iter().chain(&more) {
        if !targets.contains(arch) {
            targets.push(arch.clone());
        }
    }
    let named = !targets.is_empty();
    if !named {
        targets = known.into_iter().map(str::to_owned).collect();
    }
    Words {
        targets,
        kernels,
        named,
    }
}

/// Targets that there is no compiler for, and why.
type Missing = Vec<(Vec<String>, String)>;

/// The targets whose compiler is here, and those whose is not.
///
/// # Errors
/// When a name is of no target, or no compiler of any target is here.
fn open(arches: &[String]) -> Result<(Vec<Target>, Missing), Failure> {
    let (mut targets, mut missing) = (Vec::new(), Missing::new());
    for arch in arches {
        Target::known(arch)?;
        match Target::isolated(arch) {
            Ok(target) => targets.push(target),
            Err(error) => {
                let why = error.to_string();
                match missing.iter_mut().find(|(_, other)| *other == why) {
                    Some((arches, _)) => arches.push(arch.clone()),
                    None => missing.push((vec![arch.clone()], why)),
                }
            }
        }
    }
    if targets.is_empty() {
        let reasons = missing.into_iter().map(|(_, why)| why);
        return Err(Failure::Other(
            reasons.collect::<Vec<_>>().join("\nerror: "),
        ));
    }
    Ok((targets, missing))
}

/// A kernel without baked rows has no line in the table: that is said next to it.
fn say_where_nothing_is_baked(args: &InspectArgs, project: &Project) -> Result<(), Failure> {
    for kernel in &project.kernels {
        if baked(args, project, kernel)?.is_empty() {
            let name = &kernel.spec.name;
            eprintln!("{name}: no baked rows\nhelp: run `tune run` on a device first");
        }
    }
    Ok(())
}

/// Compiles the subjects side by side.
fn inspect(target: &Target, subjects: &[Subject<'_>]) -> Result<Vec<InspectRow>, Failure> {
    let folder = tempfile::Builder::new().prefix("kiln-inspect-").tempdir();
    let folder = folder.map_err(Failure::file("make a folder in", &std::env::temp_dir()))?;
    let artifacts = ArtifactCache::in_cache(&kiln_cache::location::from_environment()?);
    let workshop = target.workshop(&artifacts, folder.path());
    Ok(subjects
        .par_iter()
        .map(|subject| row(target, &workshop, subject))
        .collect())
}

/// How the cpu device runs a config.
fn host_row(subject: &Subject<'_>) -> HostRow {
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
        kernel: kernel.spec.name.clone(),
        problem: problem.to_string(),
        what: subject.what.clone(),
        config: subject.config_text(),
        runs: HostRow::runs(&barriers),
        barriers: barriers.into_iter().map(str::to_owned).collect(),
        threads: plan.as_ref().ok().map(LaunchPlan::threads_per_block),
        error: plan.err().map(|error| error.to_string()),
    }
}

impl Subject<'_> {
    fn config_text(&self) -> String {
        let spec = &self.kernel.spec;
        match &self.config {
            Some(config) => config.to_string(),
            None if spec.baseline_is_another_entry() => format!("entry {}", spec.baseline.entry),
            None => spec.baseline.config.to_string(),
        }
    }
}

fn row(target: &Target, workshop: &Workshop<'_>, subject: &Subject<'_>) -> InspectRow {
    let spec = &subject.kernel.spec;
    let which = match &subject.config {
        Some(config) => Which::Config(config),
        None => Which::Baseline,
    };
    let mut row = InspectRow {
        target: target.known.arch,
        kernel: spec.name.clone(),
        problem: subject.problem.to_string(),
        what: subject.what.clone(),
        config: subject.config_text(),
        figures: None,
        error: None,
    };
    match workshop.inspect(subject.kernel, which, &subject.problem) {
        Ok(inspected) => row.fill(target.known, &inspected),
        Err(outcome) => row.error = Some(outcome.to_string()),
    }
    row
}

/// What was asked for; without a word, the baseline and the baked rows.
fn subjects<'a>(
    args: &InspectArgs,
    project: &'a Project,
    limits: &DeviceLimits,
) -> Result<Vec<Subject<'a>>, Failure> {
    let unasked = !(args.baseline || args.baked || args.all_corners || args.config.is_some());
    let mut subjects = Vec::new();
    for kernel in &project.kernels {
        for problem in problems(args, kernel)? {
            let subject = |(what, config): (&str, Option<Config>)| Subject {
                kernel,
                problem: problem.clone(),
                what: what.into(),
                config,
            };
            let baseline = (args.baseline || unasked).then_some(("baseline", None));
            let named = configs(args, kernel, &problem, limits)?;
            let named = named.into_iter().map(|(what, config)| (what, Some(config)));
            subjects.extend(baseline.into_iter().chain(named).map(subject));
        }
        if args.baked || unasked {
            let mut rows = baked(args, project, kernel)?;
            // The committed table and the local one may hold the same config with other figures.
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

/// The config that was written out, and the corners, where asked for.
fn configs(
    args: &InspectArgs,
    kernel: &TunedKernel,
    problem: &Problem,
    limits: &DeviceLimits,
) -> Result<Vec<(&'static str, Config)>, Failure> {
    let mut configs = Vec::new();
    if let Some(text) = &args.config {
        let config = kernel.spec.parse_config(text);
        configs.push(("config", config.map_err(|error| named(kernel, &error))?));
    }
    if args.all_corners {
        let space = SearchSpace::build(&kernel.spec, problem, limits);
        let space = space.map_err(|error| named(kernel, &error))?;
        configs.extend(corners(&space).into_iter().map(|config| ("corner", config)));
    }
    Ok(configs)
}

/// The problems asked for; the first declared one where none is.
fn problems(args: &InspectArgs, kernel: &TunedKernel) -> Result<Vec<Problem>, Failure> {
    match &args.problem {
        Some(text) => {
            let problem = kernel
                .spec
                .parse_problem(text)
                .map_err(|error| named(kernel, &error))?;
            Ok(vec![problem])
        }
        None => Ok(kernel.spec.problems.iter().take(1).cloned().collect()),
    }
}

/// The configs of a kernel's baked rows, whatever device they are for.
fn baked<'a>(
    args: &InspectArgs,
    project: &Project,
    kernel: &'a TunedKernel,
) -> Result<Vec<Subject<'a>>, Failure> {
    let mut subjects = Vec::new();
    let local = project.local_tables(kernel);
    for row in local::rows(&kernel.spec.name, &kernel.tuned, &local)? {
        let parsed = kernel
            .spec
            .parse_problem(&row.problem)
            .and_then(|problem| Ok((problem, kernel.spec.parse_config(&row.config)?)));
        // A row of an older spec says nothing of the kernel as it is.
        let Ok((problem, config)) = parsed else {
            continue;
        };
        if args
            .problem
            .as_ref()
            .is_some_and(|text| *text != row.problem)
        {
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

fn named(kernel: &TunedKernel, error: &dyn std::fmt::Display) -> Failure {
    Failure::Other(format!("{}: {error}", kernel.spec.name))
}
