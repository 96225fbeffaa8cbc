//! `tune inspect`: prints registers, spills, shared memory and occupancy of configs. The targets need not be installed
//! in this machine.

use std::process::ExitCode;

use kiln_spec::Backend;
use kiln_spec::targets::CPU_LIMITS;
use serde::Serialize;

use super::inspect_profile;
use super::output::{checked, print, print_json, read_project, say_unsupported};
use crate::cli::options::{self, DEFAULT_TRIALS, jobs};
use crate::cli::{DEFAULT_SEED, DEFAULT_STRATEGY, InspectArgs};
use crate::compile_only::inspect::{
    ConfigSelector, HOST, Inspection, baked, host_row, inspect, subjects,
};
use crate::compile_only::{
    self, CompileTarget, FIRST, FirstConfigs, Missing, first_summary, open_all,
};
use crate::error::Failure;
use kiln_lab::candidate::inspect::{HostRow, InspectRow, host_to_text, to_text};
use kiln_lab::threads;
use kiln_project::Project;

pub(super) fn run(args: &InspectArgs) -> Result<ExitCode, Failure> {
    let words = words(args);
    let mut package = args.package.clone();
    package.kernels.extend(words.kernels);
    let project = read_project(&package)?;
    let threads = jobs(args.jobs)?;
    let problems = options::problems(&args.problems);
    let wanted = selector(args, &problems, threads);
    let pool = threads::to_compile(threads)?;
    if args.baked {
        say_where_nothing_is_baked(&wanted, &project)?;
    }
    if args.profile {
        return inspect_profile::run(args, &project, &wanted, &words.targets, words.named);
    }
    let (hosts, arches): (Vec<_>, Vec<_>) =
        words.targets.into_iter().partition(|arch| arch == HOST);
    let (targets, missing) = match &arches[..] {
        [] => (Vec::new(), Missing::new()),
        arches => open_all(arches)?,
    };
    let mut inspections = Vec::new();
    for target in &targets {
        let backend = target.info.key.backend;
        say_unsupported(&project, target.known.arch, backend);
        let subjects = subjects(&wanted, &project, (backend, &target.info.limits))?;
        inspections.push(pool.install(|| inspect(target, &subjects))?);
    }
    let mut host_rows = Vec::new();
    if !hosts.is_empty() {
        say_unsupported(&project, HOST, Backend::Cpu);
        let subjects = subjects(&wanted, &project, (Backend::Cpu, &CPU_LIMITS))?;
        host_rows.extend(subjects.iter().map(host_row));
    }
    if args.output.json {
        let rows = inspections.iter().flat_map(|one| &one.rows);
        let rows = rows.map(InspectedRow::Gpu);
        let all: Vec<_> = rows
            .chain(host_rows.iter().map(InspectedRow::Host))
            .collect();
        print_json(&all)?;
    } else {
        print_tables(&targets, &inspections);
        print(&host_to_text(&host_rows));
    }
    for (arches, why) in &missing {
        eprintln!("not compiled for {}: {why}", arches.join(", "));
    }
    // If the command line names no target, targets whose compiler is not installed are not an error.
    let all_there = missing.is_empty() || !words.named;
    let any_failed = inspections.iter().any(Inspection::failed);
    let any_error = host_rows.iter().any(|row| row.error.is_some());
    Ok(checked(all_there && !any_failed && !any_error))
}

/// The configs that the command line selects.
fn selector<'a>(
    args: &'a InspectArgs,
    problems: &'a [String],
    threads: usize,
) -> ConfigSelector<'a> {
    ConfigSelector {
        baseline: args.baseline,
        baked: args.baked,
        corners: args.all_corners,
        config: args.config.as_deref(),
        first: args.first.map(|count| FirstConfigs {
            count: count as usize,
            strategy: DEFAULT_STRATEGY,
            seed: DEFAULT_SEED,
            trials: DEFAULT_TRIALS,
            threads,
        }),
        problems,
    }
}

/// Prints one table for all targets. Of the configs that a run tries first, it contains only those with an error; a
/// summary per target counts them all.
fn print_tables(targets: &[CompileTarget], inspections: &[Inspection]) {
    let title = |arch: &str| {
        let target = targets.iter().find(|target| target.known.arch == arch);
        target.map_or_else(String::new, CompileTarget::title)
    };
    let rows = inspections.iter().flat_map(|one| &one.rows);
    let shown = rows.filter(|row| row.what != FIRST || row.error.is_some());
    let shown: Vec<InspectRow> = shown.cloned().collect();
    print(&to_text(&shown, title));
    for one in inspections {
        print(&first_summary(&one.rows, one.compiles, one.elapsed));
    }
}

/// A row of the JSON output.
#[derive(Serialize)]
#[serde(untagged)]
enum InspectedRow<'a> {
    Gpu(&'a InspectRow),
    Host(&'a HostRow),
}

/// The targets and kernels that the command line specifies.
struct InspectWords {
    targets: Vec<String>,
    kernels: Vec<String>,
    /// Whether the command line specifies a target. If not, `targets` contains all known targets.
    named: bool,
}

/// Separates targets from kernels on the command line. For example, `--target sm_86 sm_89 gemm` specifies two targets
/// and a kernel.
fn words(args: &InspectArgs) -> InspectWords {
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
    InspectWords {
        targets,
        kernels,
        named,
    }
}

/// Reports the kernels without baked rows on standard error, because the table has no line for them.
fn say_where_nothing_is_baked(
    wanted: &ConfigSelector<'_>,
    project: &Project,
) -> Result<(), Failure> {
    for kernel in &project.kernels {
        if baked(wanted, project, kernel)?.is_empty() {
            let name = &kernel.spec.name;
            eprintln!("{name}: no baked rows\nhelp: run `tune run` on a device first");
        }
    }
    Ok(())
}
