//! `tune replay`: strategies on recorded spaces.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use kiln_spec::Problem;
use rayon::prelude::*;

use super::output::{checked, print, read_project};
use crate::atomic_file;
use crate::cli::ReplayArgs;
use crate::compile_only::Target;
use crate::error::Failure;
use crate::error::UsageError;
use crate::progress::Counter;
use crate::project::TunedKernel;
use crate::replay::transfer::{self, MARKS, PairRuns, Start, Trials, median};
use crate::replay::{self, Plan, replay};
use kiln_exchange::curves::{Curves, SearchRun};
use kiln_exchange::recording::{self, Recording};
use kiln_search::{Guide, NAMES, Prior, Settings};

pub(super) fn run(args: &ReplayArgs) -> Result<ExitCode, Failure> {
    // What cannot be baked is said before anything is searched.
    let to_bake = args.target.as_deref().map(|arch| ToBake::new(args, arch));
    let to_bake = to_bake.transpose()?;
    let strategies = strategies(&args.strategy)?;
    let seeds = seeds(&args.seeds)?;
    if args.budget == 0 {
        let (reason, help) = ("no config at all", "a number from 1");
        return Err(wrong("--budget", "0", reason, help));
    }
    let mut settings = Settings::default();
    for text in &args.set {
        settings
            .set(text)
            .map_err(|error| Failure::Other(error.to_string()))?;
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.jobs.unwrap_or(0))
        .build();
    let pool = pool.map_err(|error| Failure::Other(format!("cannot start threads: {error}")))?;
    pool.install(|| {
        let recordings = recording::read_all(&args.spaces)?;
        if let (Some(to_bake), [recording]) = (&to_bake, recordings.as_slice()) {
            replay::check(&to_bake.kernel, recording, &to_bake.target)?;
        }
        if args.transfer_all_pairs {
            let trials = Trials {
                budget: args.budget,
                batch: args.batch,
                seeds: seeds.clone(),
                settings,
                source_trials: args.transfer_trials,
            };
            return all_pairs(args, &recordings, &trials);
        }
        let sources = recording::read_all(&args.transfer_from)?;
        let sources: Vec<Recording> = match args.transfer_trials {
            Some(most) => sources
                .par_iter()
                .map(|source| transfer::searched(source, most, *seeds.start(), settings))
                .collect(),
            None => sources,
        };
        for source in &sources {
            if !recordings.iter().any(|one| is_source(one, source)) {
                return Err(Failure::Other(format!(
                    "`{}` is of the kernel of no space that is searched, or that space itself\nhelp: a source is named KERNEL@DEVICE, with the kernel of a `--space`",
                    source.name
                )));
            }
        }
        let guide = |one: &Recording| Guide {
            priors: priors(one, &sources),
            settings,
        };
        let guides: Vec<Guide> = recordings.iter().map(guide).collect();
        let mut jobs = Vec::new();
        for (recording, guide) in recordings.iter().zip(&guides) {
            for strategy in &strategies {
                jobs.extend(
                    seeds
                        .clone()
                        .map(|seed| (recording, plan(args, strategy, seed, guide))),
                );
            }
        }
        let started = Instant::now();
        let counter = Counter::new("searches", jobs.len() as u64);
        let search = |(recording, plan): &(&Recording, Plan<'_>)| {
            let run = replay(recording, plan);
            counter.step();
            run
        };
        let runs: Vec<SearchRun> = jobs.par_iter().map(search).collect();
        counter.finish();
        print(&summary(
            &strategies,
            &recordings,
            &runs,
            started.elapsed().as_secs_f64(),
        ));
        if let Some(path) = &args.curves {
            write(path, &Curves::new(args.budget, runs.clone()))?;
        }
        if let (Some(to_bake), [recording]) = (&to_bake, recordings.as_slice()) {
            let (kernel, problems) = (&to_bake.kernel, &to_bake.problems);
            let report = replay::bake(kernel, problems, recording, &runs, &to_bake.target)?;
            print(&report.to_text(&kernel.spec.name));
        }
        Ok(checked(true))
    })
}

/// What the best config is baked for.
struct ToBake {
    kernel: TunedKernel,
    problems: Vec<Problem>,
    target: Target,
}

impl ToBake {
    fn new(args: &ReplayArgs, arch: &str) -> Result<ToBake, Failure> {
        if args.spaces.len() != 1 || args.package.kernels.len() != 1 {
            let spaces = args.spaces.len().to_string();
            let reason = "a replayed row is of one recording and one kernel";
            let help = "give one `--space` and one `-k`";
            return Err(wrong("--bake", &spaces, reason, help));
        }
        let kernel = read_project(&args.package)?.kernels.into_iter().next();
        let kernel = kernel.ok_or_else(|| {
            Failure::Other("no kernel of that name\nhelp: run `tune list`".to_owned())
        })?;
        let target = Target::isolated(arch)?;
        let problems = match &args.problem {
            None => kernel
                .spec
                .problems_on(target.info.key.backend)
                .cloned()
                .collect(),
            Some(text) => vec![kernel.problem(Some(text))?],
        };
        Ok(ToBake {
            kernel,
            problems,
            target,
        })
    }
}

fn plan<'a>(args: &ReplayArgs, strategy: &'a str, seed: u64, guide: &'a Guide) -> Plan<'a> {
    Plan {
        strategy,
        budget: args.budget,
        batch: args.batch,
        seed,
        stop: args.stop,
        guide,
    }
}

/// Whether a recording is of the same kernel on another device.
fn is_source(target: &Recording, source: &Recording) -> bool {
    source.kernel() == target.kernel() && source.name != target.name
}

/// What recordings of the same kernel on other devices say.
fn priors(target: &Recording, sources: &[Recording]) -> Vec<Prior> {
    let others = sources.iter().filter(|source| is_source(target, source));
    others
        .map(|source| transfer::prior(source, target))
        .collect()
}

fn strategies(names: &[String]) -> Result<Vec<String>, Failure> {
    if names.iter().any(|name| name == "all") {
        return Ok(NAMES.map(str::to_owned).to_vec());
    }
    match names.iter().find(|name| !NAMES.contains(&name.as_str())) {
        None => Ok(names.to_vec()),
        Some(name) => Err(wrong(
            "--strategy",
            name,
            "no such strategy",
            "write names that `tune run --help` lists, with commas between, or `all`",
        )),
    }
}

/// Searches of one space at most.
const MAX_SEEDS: u64 = 100_000;

fn seeds(text: &str) -> Result<std::ops::RangeInclusive<u64>, Failure> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    match (first.parse(), last.trim_start_matches('=').parse()) {
        (Ok(first), Ok(last)) if first <= last && last - first < MAX_SEEDS => Ok(first..=last),
        _ => Err(wrong(
            "--seeds",
            text,
            "no seeds, or more than 100,000",
            "the first and the last, such as 1..50",
        )),
    }
}

fn wrong(flag: &'static str, value: &str, reason: &str, help: &'static str) -> Failure {
    Failure::Usage(UsageError {
        flag,
        value: value.to_owned(),
        reason: reason.to_owned(),
        help,
    })
}

fn write(path: &Path, curves: &Curves) -> Result<(), Failure> {
    let text = serde_json::to_string(curves)
        .map_err(|error| Failure::Other(format!("cannot write JSON: {error}")))?;
    atomic_file::write(path, (text + "\n").as_bytes()).map_err(Failure::file("write", path))
}

/// A line a strategy: the geometric mean over spaces of the median share of the optimum.
fn summary(
    strategies: &[String],
    recordings: &[Recording],
    runs: &[SearchRun],
    seconds: f64,
) -> String {
    let marks = [10, 25, 50, 100, 200];
    let mut text = format!("{:<16}", "strategy");
    for mark in marks {
        text += &format!("  frac@{mark:<4}");
    }
    text += "  ms per config\n";
    for strategy in strategies {
        let own: Vec<&SearchRun> = runs
            .iter()
            .filter(|run| &run.strategy == strategy)
            .collect();
        text += &format!("{strategy:<16}");
        for mark in marks {
            text += &format!("  {:<9.3}", share(recordings, &own, mark));
        }
        let (wall, evals) = own
            .iter()
            .fold((0.0, 0), |sum, run| (sum.0 + run.wall_s, sum.1 + run.evals));
        text += &format!("  {:.3}\n", 1e3 * wall / evals.max(1) as f64);
    }
    text + &format!(
        "{} spaces, {} searches in {seconds:.1} s\n",
        recordings.len(),
        runs.len()
    )
}

fn share(recordings: &[Recording], runs: &[&SearchRun], evals: usize) -> f64 {
    let logs = recordings.iter().map(|recording| {
        let best = recording.best_ms().unwrap_or_default();
        let of = |run: &&&SearchRun| run.space == recording.name;
        let shares = runs
            .iter()
            .filter(of)
            .map(|run| run.best_after(evals).map_or(0.0, |found| best / found));
        median(shares.collect()).max(1e-3).ln()
    });
    (logs.sum::<f64>() / recordings.len().max(1) as f64).exp()
}

/// Every ordered pair of recordings of a kernel, with every start.
fn all_pairs(
    args: &ReplayArgs,
    recordings: &[Recording],
    trials: &Trials,
) -> Result<ExitCode, Failure> {
    let pairs = transfer::pairs(recordings);
    let mut jobs = Vec::new();
    for &(source, target) in &pairs {
        jobs.extend(Start::ALL.map(|start| (source, target, start)));
    }
    let counter = Counter::new("searches of a pair", jobs.len() as u64);
    let search = |&(source, target, start): &(&Recording, &Recording, Start)| {
        let runs = transfer::search(source, target, start, trials);
        counter.step();
        runs
    };
    let found: Vec<PairRuns> = jobs.par_iter().map(search).collect();
    counter.finish();
    print(&pair_table(&found));
    if let Some(path) = &args.curves {
        let runs = found.into_iter().flat_map(|pair| pair.runs).collect();
        write(path, &Curves::new(args.budget, runs))?;
    }
    Ok(checked(true))
}

/// A line a pair and start, then the geometric means over pairs.
fn pair_table(found: &[PairRuns]) -> String {
    let heads: Vec<String> = MARKS.iter().map(|mark| format!("frac@{mark}")).collect();
    let mut text = format!("{:<58} {:<16}", "source -> target", "start");
    for head in &heads {
        text += &format!(" {head:>9}");
    }
    let row = |shares: &[f64]| {
        shares
            .iter()
            .map(|share| format!(" {share:>9.3}"))
            .collect::<String>()
            + "\n"
    };
    text += "\n";
    for pair in found {
        let name = format!("{} -> {}", pair.source, pair.target);
        let shares: Vec<f64> = pair.shares.iter().map(|share| share.1).collect();
        text += &format!("{name:<58} {:<16}{}", pair.start.name(), row(&shares));
    }
    for start in Start::ALL {
        let own: Vec<&PairRuns> = found.iter().filter(|pair| pair.start == start).collect();
        let mean = |place: usize| {
            let logs = own.iter().map(|pair| pair.shares[place].1.max(1e-3).ln());
            (logs.sum::<f64>() / own.len().max(1) as f64).exp()
        };
        let means: Vec<f64> = (0..MARKS.len()).map(mean).collect();
        text += &format!(
            "{:<58} {:<16}{}",
            "geometric mean",
            start.name(),
            row(&means)
        );
    }
    text
}
