//! `tune run`: searches, verifies and confirms configs, and bakes the winners.

use std::process::ExitCode;

use kiln::Kernel;

use super::output::{checked, command_line, print, print_json, read_project_to_run, say_left_out};
use crate::cli::RunArgs;
use crate::cli::options;
use crate::compile_only::{self, CheckOptions, CheckReport, CompileTarget};
use crate::error::Failure;
use crate::progress;
use crate::run::RunOptions;
use crate::run::dry_run;
use crate::run::interrupted;
use crate::run::pipeline::{self, RunInputs};
use crate::tables::bake;
use kiln_lab::machine;
use kiln_lab::preflight;
use kiln_project::Project;

pub(super) fn run(
    args: &RunArgs,
    catalogue: &'static [&'static Kernel],
) -> Result<ExitCode, Failure> {
    let options = options::run_options(args)?;
    let project = read_project_to_run(&args.package)?;
    if args.compile_only {
        return compile_only(args, &options, &project);
    }
    let (device_name, device) = machine::open_device(args.device.device.as_deref())?;
    if options.dry_run {
        let compiler = machine::compiler(&*device)?;
        let plan = dry_run::plan(&project, &options, device.info(), compiler)?;
        if args.output.json {
            print_json(&plan)?;
        } else {
            print(&plan.to_text());
            say_left_out(&args.package, &project);
        }
        return Ok(checked(true));
    }
    // This is checked now, so the run does not fail after an hour of measuring.
    bake::can_be_written(&project, device.info().key.backend, options.write)?;
    interrupted::announce();
    let cache = machine::open_cache()?;
    preflight::check(&device_name, &*device, args.allow_shared_gpu)?;
    let reporter = progress::reporter(args.verbose);
    let report = pipeline::run(&RunInputs {
        project: &project,
        device_name: &device_name,
        device: &*device,
        options: &options,
        command: &command_line(),
        cache: &cache,
        catalogue,
        reporter: &*reporter,
    })?;
    cache.close()?;
    if args.output.json {
        print_json(&report)?;
    } else {
        let in_full = args.verbose || report.tasks.len() <= progress::MAX_IN_FULL;
        print(&report.to_text(in_full));
        say_left_out(&args.package, &project);
    }
    Ok(checked(!report.any_failed()))
}

/// For each requested target, finds the configs that compile and could be launched.
fn compile_only(
    args: &RunArgs,
    options: &RunOptions,
    project: &Project,
) -> Result<ExitCode, Failure> {
    let targets = args
        .targets
        .iter()
        .map(|arch| CompileTarget::isolated(arch));
    let targets = targets.collect::<Result<Vec<_>, _>>()?;
    interrupted::announce();
    let cache = machine::open_cache()?;
    let reporter = progress::reporter(args.verbose);
    let with = CheckOptions {
        project,
        options,
        cache: &cache,
        reporter: &*reporter,
    };
    let reports = targets
        .iter()
        .map(|target| compile_only::check(&with, target));
    let reports = reports.collect::<Result<Vec<_>, _>>()?;
    cache.close()?;
    if args.output.json {
        print_json(&reports)?;
    } else {
        let texts: Vec<_> = reports.iter().map(CheckReport::to_text).collect();
        print(&texts.join("\n"));
    }
    Ok(checked(!reports.iter().any(CheckReport::any_failed)))
}
