//! `tune replay`: runs search strategies on recorded spaces.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use super::output::{checked, print, read_project};
use crate::cli::{ReplayArgs, options};
use crate::error::{Failure, UsageError};
use crate::replay::sweep::{self, Sweep};
use crate::replay::transfer::Trials;
use crate::replay::{self, ToBake, pairs};
use kiln_exchange::curves::Curves;
use kiln_exchange::recording;
use kiln_lab::threads;
use kiln_project::atomic_file;
use kiln_search::Settings;

pub(super) fn run(args: &ReplayArgs) -> Result<ExitCode, Failure> {
    // If the result cannot be baked, the command fails before the search.
    let to_bake = args.target.as_deref().map(|arch| to_bake(args, arch));
    let to_bake = to_bake.transpose()?;
    let strategies = options::strategies(&args.strategy)?;
    let seeds = options::seeds(&args.seeds)?;
    if args.budget == 0 {
        let (reason, help) = ("no config at all", "a number from 1");
        return Err(wrong("--budget", "0", reason, help));
    }
    let mut settings = Settings::default();
    for text in &args.set {
        settings.set(text)?;
    }
    let pool = threads::pool("threads", args.jobs.unwrap_or(0))?;
    let sweep = Sweep {
        strategies,
        seeds,
        budget: args.budget,
        batch: args.batch,
        stop: args.stop,
        settings,
    };
    pool.install(|| search(args, &sweep, to_bake.as_ref()))?;
    Ok(checked(true))
}

fn search(args: &ReplayArgs, sweep: &Sweep, to_bake: Option<&ToBake>) -> Result<(), Failure> {
    let recordings = recording::read_all(&args.spaces)?;
    if let (Some(to_bake), [recording]) = (to_bake, recordings.as_slice()) {
        replay::check(to_bake, recording)?;
    }
    if args.transfer_all_pairs {
        let found = pairs::runs(
            &recordings,
            &Trials {
                budget: sweep.budget,
                batch: sweep.batch,
                seeds: sweep.seeds.clone(),
                settings: sweep.settings,
                source_trials: args.transfer_trials,
            },
        );
        print(&pairs::table(&found));
        let runs = found.into_iter().flat_map(|pair| pair.runs).collect();
        return write(args.curves.as_deref(), &Curves::new(args.budget, runs));
    }
    let sources = recording::read_all(&args.transfer_from)?;
    let guides = sweep.guides(&recordings, sources, args.transfer_trials)?;
    let started = Instant::now();
    let runs = sweep.runs(&recordings, &guides);
    let seconds = started.elapsed().as_secs_f64();
    print(&sweep::summary(
        &sweep.strategies,
        &recordings,
        &runs,
        seconds,
    ));
    write(
        args.curves.as_deref(),
        &Curves::new(args.budget, runs.clone()),
    )?;
    if let (Some(to_bake), [recording]) = (to_bake, recordings.as_slice()) {
        let report = replay::bake(to_bake, recording, &runs)?;
        print(&report.to_text(&to_bake.kernel.spec.name));
    }
    Ok(())
}

/// The target and the kernel for which `--bake` writes a row.
fn to_bake(args: &ReplayArgs, arch: &str) -> Result<ToBake, Failure> {
    if args.spaces.len() != 1 || args.package.kernels.len() != 1 {
        let spaces = args.spaces.len().to_string();
        let reason = "a replayed row comes from one recording and belongs to one kernel";
        let help = "give one `--space` and one `-k`";
        return Err(wrong("--bake", &spaces, reason, help));
    }
    let name = &args.package.kernels[0];
    let kernel = read_project(&args.package)?.one(name)?.clone();
    ToBake::new(kernel, args.problem.as_deref(), arch)
}

fn wrong(flag: &'static str, value: &str, reason: &str, help: &'static str) -> Failure {
    Failure::Usage(UsageError {
        flag,
        value: value.to_owned(),
        reason: reason.to_owned(),
        help,
    })
}

/// Writes curves to `path`, if there is one.
fn write(path: Option<&Path>, curves: &Curves) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let text = serde_json::to_string(curves).map_err(Failure::json("write JSON"))?;
    atomic_file::write(path, (text + "\n").as_bytes()).map_err(Failure::file("write", path))
}
