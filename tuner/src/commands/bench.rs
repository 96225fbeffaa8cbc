//! `tune bench`: the current kernels, timed, and saved for `tune compare`.

use std::path::Path;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use kiln::{Device, Kernel};
use kiln_spec::{Backend, Problem};
use serde::Serialize;

use super::output::{checked, print, print_json, print_json_line, read_project};
use crate::cli::BenchArgs;
use crate::cli::options;
use crate::error::Failure;
use crate::lab::machine;
use crate::lab::preflight;
use crate::lab::scratch::Scratch;
use crate::progress::{self, Counter, Reporter};
use crate::project::{Project, TunedKernel};
use crate::regime::Regime;
use crate::run::budget::Budget;
use crate::task::check_declared;
use crate::watch::bench::{self, Benched, Outcome};
use crate::watch::compare::budget_ns;
use crate::watch::saved::{Recorded, Saved};
use crate::watch::stage::{self, Setting, Stage};
use crate::watch::throughput::Yardsticks;
use crate::watch::{copied, kept, least, table};

/// What a line of `--json-lines` says.
#[derive(Serialize)]
struct Line<'a> {
    device: &'a str,
    regime: &'static str,
    #[serde(flatten)]
    yardsticks: Yardsticks,
    kernel: &'a Benched,
}

/// What was timed on one device.
#[derive(Serialize)]
struct OnDevice {
    device: String,
    regime: &'static str,
    #[serde(flatten)]
    yardsticks: Yardsticks,
    kernels: Vec<Benched>,
}

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
            lines: args.lines.json_lines,
        };
        let report = stage::on(setting, name, &**device, |stage| run.on(stage, &mut saved))?;
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

/// Keeps the kernels; a file without any would only look like one.
fn save(saved: &Saved, path: &Path, reporter: &dyn Reporter) -> Result<(), Failure> {
    let kernels = saved.sections.iter().map(|section| section.kernels.len());
    let count: usize = kernels.sum();
    if count == 0 {
        return Err(Failure::Other(format!(
            "no kernel works, so that none was saved to {}\nhelp: what is wrong with each is in the table",
            path.display()
        )));
    }
    saved.write(path)?;
    reporter.notice(&format!("saved {count} kernels to {}", path.display()));
    Ok(())
}

fn report(args: &BenchArgs, reports: &[OnDevice]) -> Result<ExitCode, Failure> {
    if args.watch.output.json {
        print_json(&reports)?;
    } else if !args.lines.json_lines {
        print(&to_text(reports));
    }
    let mut outcomes = reports.iter().flat_map(|report| &report.kernels);
    let failed = outcomes.any(|one| matches!(one.outcome, Outcome::Failed { .. }));
    Ok(checked(!failed))
}

/// A peer has one copy of the data, which caches hold where they can: next to one the kernel is timed like that.
fn regime(args: &BenchArgs) -> Option<Regime> {
    let hot = (!args.peers.is_empty()).then_some(Regime::Hot);
    args.watch.regime.regime.or(hot)
}

type Tasks<'a> = Vec<(&'a TunedKernel, &'a Problem)>;

/// The first problem of every kernel, then the second of each, and so on: a short budget reaches every kernel.
fn tasks<'a>(project: &'a Project, wanted: &[String], backend: Backend) -> Tasks<'a> {
    let of = |kernel: &'a TunedKernel| kernel.spec.problems_on(backend);
    let counts = project.kernels.iter().map(|kernel| of(kernel).count());
    let nth = |n| {
        let kernels = project.kernels.iter();
        kernels.filter_map(move |kernel| Some((kernel, of(kernel).nth(n)?)))
    };
    let meant =
        |task: &(&TunedKernel, &Problem)| wanted.is_empty() || wanted.contains(&task.1.to_string());
    (0..counts.max().unwrap_or(0))
        .flat_map(nth)
        .filter(meant)
        .collect()
}

type Opened = (String, Device);

/// The devices of these names; the first GPU, else the cpu, where none is named.
fn open(names: &[String]) -> Result<Vec<Opened>, Failure> {
    if names.is_empty() {
        return Ok(vec![machine::open_device(None)?]);
    }
    machine::open_devices(names)
}

struct BenchRun<'a> {
    tasks: &'a [(&'a TunedKernel, &'a Problem)],
    budget: &'a Budget,
    /// Kernels and problems that are left, on this device and those to come.
    left: usize,
    reporter: &'a dyn Reporter,
    /// Whether each kernel is printed as soon as it is timed.
    lines: bool,
}

impl BenchRun<'_> {
    fn on(&self, stage: &Stage<'_>, saved: &mut Saved) -> Result<OnDevice, Failure> {
        // A twentieth of the time for each: a budget of seconds is for the kernels.
        let share_ns = budget_ns(self.budget, 1) / 20;
        let yardsticks = Yardsticks {
            launch_ns: self.known(
                stage,
                "what a launch costs",
                least::launch_ns(stage, share_ns),
            ),
            copy_bytes_per_s: self.known(
                stage,
                "how fast memory is copied",
                copied::bytes_per_s(stage, share_ns),
            ),
        };
        let mut section = kept::section(saved, stage.info, stage.workshop.compiler, stage.regime);
        let progress = Counter::new("kernel problems", self.tasks.len() as u64);
        let device = stage.info.key.to_string();
        let mut kernels = Vec::new();
        for (at, (kernel, problem)) in self.tasks.iter().enumerate() {
            let budget_ns = budget_ns(self.budget, self.left - at);
            let (benched, draft) = bench::bench(stage, kernel, problem, yardsticks, budget_ns)?;
            if let Some(draft) = draft {
                let recorded = recorded(&benched);
                let problem = problem.to_string();
                section
                    .kernels
                    .push(kept::keep(saved, kernel, &problem, &draft, recorded));
            }
            if self.lines {
                print_json_line(&Line {
                    device: &device,
                    regime: stage.regime.name(),
                    yardsticks,
                    kernel: &benched,
                })?;
            }
            kernels.push(benched);
            progress.step();
        }
        progress.finish();
        saved.sections.push(section);
        Ok(OnDevice {
            device,
            regime: stage.regime.name(),
            yardsticks,
            kernels,
        })
    }
}

impl BenchRun<'_> {
    /// What was measured; where it was not, that is said.
    fn known(&self, stage: &Stage<'_>, what: &str, measured: Result<u64, String>) -> Option<u64> {
        measured
            .inspect_err(|reason| {
                let reason = reason.lines().next().unwrap_or_default();
                let line = format!("{what} on {} is not known: {reason}", stage.device);
                self.reporter.notice(&line);
            })
            .ok()
    }
}

fn recorded(benched: &Benched) -> Option<Recorded> {
    match &benched.outcome {
        Outcome::Measured(measured) => Some(measured.time),
        _ => None,
    }
}

fn to_text(reports: &[OnDevice]) -> String {
    let each = reports.iter().map(|report| {
        let Yardsticks {
            launch_ns,
            copy_bytes_per_s,
        } = report.yardsticks;
        let unknown = || "an unknown time".to_owned();
        let launch =
            launch_ns.map_or_else(unknown, |ns| kiln_spec::time::Nanoseconds(ns).to_string());
        let copy = copy_bytes_per_s.map_or(String::new(), |bytes| {
            format!(", a copy moves {:.1} GB/s", bytes as f64 / 1e9)
        });
        let table = table::of_bench(&report.kernels);
        let OnDevice { device, regime, .. } = report;
        format!("device {device}, {regime} caches, an empty launch takes {launch}{copy}\n\n{table}")
    });
    each.collect::<Vec<_>>().join("\n")
}

fn unix_s() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
