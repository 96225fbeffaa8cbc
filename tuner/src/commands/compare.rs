//! `tune compare`: times saved kernels and current kernels against each other in one session.

use std::process::ExitCode;

use kiln::Kernel;
use kiln::devices::name_of;

use super::output::{checked, print, print_json, read_project};
use crate::cli::{CompareArgs, options};
use crate::error::Failure;
use crate::run::budget::Budget;
use crate::watch::NothingWatched;
use crate::watch::file_comparison::{Comparing, Report, matched, nothing_here};
use crate::watch::plan::Chosen;
use crate::watch::saved::Saved;
use crate::watch::verdict::{Gate, WatchVerdict};
use kiln_lab::machine::{self, Opened};

pub(super) fn run(
    args: &CompareArgs,
    catalogue: &'static [&'static Kernel],
) -> Result<ExitCode, Failure> {
    let watch = &args.watch;
    let budget = options::budget(&watch.budget)?;
    let fail_above = args.fail_above.as_deref();
    let gate = Gate {
        fail_above: fail_above
            .map(|text| options::share("--fail-above", text))
            .transpose()?,
        fail_inconclusive: args.fail_inconclusive,
    };
    let saved = Saved::read(&args.file)?;
    let project = read_project(&watch.package)?;
    let devices = open(&args.devices)?;
    let matched = matched(&saved, &devices);
    if matched.is_empty() {
        return Err(nothing_here(&saved, &devices));
    }
    let cache = machine::open_cache()?;
    let problems = options::problems(&watch.problems);
    let comparing = Comparing {
        only_named: !args.devices.is_empty(),
        regime: watch.regime.regime,
        seed: watch.seed,
        allow_shared_gpu: watch.allow_shared_gpu,
        catalogue,
        saved: &saved,
        chosen: Chosen {
            project: &project,
            package: watch.package.package.as_deref(),
            kernels: &watch.package.kernels,
            problems: &problems,
        },
        gate,
        budget: Budget::start(budget),
        sections: matched.len(),
    };
    let rows = comparing.rows(&cache, &devices, &matched)?;
    cache.close()?;
    let is_on_one_side = |verdict| matches!(verdict, WatchVerdict::New | WatchVerdict::Gone);
    if rows.iter().all(|row| is_on_one_side(row.verdict)) {
        // A command that compares nothing must not pass.
        let file = args.file.clone();
        return Err(NothingWatched::Chosen { file }.into());
    }
    let report = Report::new(&args.file, &saved, gate, rows);
    if watch.output.json {
        print_json(&report)?;
    } else {
        print(&report.to_text());
    }
    Ok(checked(!report.failed))
}

/// Opens the devices with these names or, if there are no names, all devices of this machine.
fn open(names: &[String]) -> Result<Vec<Opened>, Failure> {
    if names.is_empty() {
        let here = kiln::devices().into_iter();
        return Ok(here.map(|device| (name_of(&*device), device)).collect());
    }
    Ok(machine::open_devices(names)?)
}
