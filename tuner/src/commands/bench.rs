//! `tune bench`: times the current kernels, and saves them for `tune compare`.

use std::path::Path;
use std::process::ExitCode;

use kiln::Kernel;

use super::output::{checked, print, print_json, print_json_line, read_project};
use crate::cli::{BenchArgs, options};
use crate::error::Failure;
use crate::progress::{self, Reporter};
use crate::run::budget::Budget;
use crate::run::clock::unix_s;
use crate::task::check_declared;
use crate::watch::NothingWatched;
use crate::watch::device_bench::{self, BenchRun, Line, OnDevice, Tasks, tasks};
use crate::watch::saved::Saved;
use crate::watch::stage::{self, Setting};
use kiln_lab::regime::Regime;
use kiln_lab::scratch::Scratch;
use kiln_lab::{machine, preflight};

pub(super) fn run(
    args: &BenchArgs,
    catalogue: &'static [&'static Kernel],
) -> Result<ExitCode, Failure> {
    let watch = &args.watch;
    let budget = options::budget(&watch.budget)?;
    let project = read_project(&watch.package)?;
    if let Some(path) = &args.save {
        Saved::can_be_written(path)?;
    }
    let devices = open(&args.devices)?;
    let problems = options::problems(&watch.problems);
    check_declared(&project.problems(), &problems)?;
    let tasks: Vec<Tasks<'_>> = devices
        .iter()
        .map(|(_, device)| tasks(&project, &problems, device.info().key.backend))
        .collect();
    let cache = machine::open_cache()?;
    let folder = Scratch::new(cache.folder())?;
    let reporter = progress::reporter(false);
    let setting = Setting {
        catalogue,
        cache: cache.folder(),
        folder: folder.path(),
        regime: regime(args),
        seed: watch.seed,
        peers: &args.peers,
    };
    let budget = Budget::start(budget);
    let mut saved = Saved::new(unix_s());
    let mut reports = Vec::new();
    for (at, (name, device)) in devices.iter().enumerate() {
        preflight::check(name, &**device, watch.allow_shared_gpu)?;
        let run = BenchRun {
            tasks: &tasks[at],
            budget: &budget,
            left: tasks[at..].iter().map(Vec::len).sum(),
            reporter: &*reporter,
        };
        let mut say = |line: &Line<'_>| match args.lines.json_lines {
            true => print_json_line(line),
            false => Ok(()),
        };
        let report = stage::on(setting, name, &**device, |stage| {
            run.on(stage, &mut saved, &mut say)
        })?;
        reports.push(report);
    }
    drop(folder);
    cache.close()?;
    let code = report(args, &reports)?;
    if let Some(path) = &args.save {
        save(&saved, path, &*reporter)?;
    }
    Ok(code)
}

/// Saves the kernels to a file. If there are no kernels, this is an error and no file is written, because the file
/// would look valid but contain nothing.
fn save(saved: &Saved, path: &Path, reporter: &dyn Reporter) -> Result<(), Failure> {
    let kernels = saved.sections.iter().map(|section| section.kernels.len());
    let count: usize = kernels.sum();
    if count == 0 {
        let file = path.to_owned();
        return Err(NothingWatched::Saved { file }.into());
    }
    saved.write(path)?;
    reporter.notice(&format!("saved {count} kernels to {}", path.display()));
    Ok(())
}

fn report(args: &BenchArgs, reports: &[OnDevice]) -> Result<ExitCode, Failure> {
    if args.watch.output.json {
        print_json(&reports)?;
    } else if !args.lines.json_lines {
        print(&device_bench::to_text(reports));
    }
    let mut kernels = reports.iter().flat_map(|report| &report.kernels);
    Ok(checked(!kernels.any(|one| one.outcome.has_failed())))
}

/// The regime (cold or hot caches) of the timed launches; `None` for the device's default. Without a regime on the
/// command line, a comparison with peers (other programs that compute the same result) uses hot caches, because a peer
/// has only one copy of the data, which stays in the caches if it fits.
fn regime(args: &BenchArgs) -> Option<Regime> {
    let hot = (!args.peers.is_empty()).then_some(Regime::Hot);
    args.watch.regime.regime.or(hot)
}

/// Opens the devices with these names or, if there are no names, the first GPU. If there is no GPU either, opens the
/// cpu.
fn open(names: &[String]) -> Result<Vec<machine::Opened>, Failure> {
    if names.is_empty() {
        return Ok(vec![machine::open_device(None)?]);
    }
    Ok(machine::open_devices(names)?)
}
