//! `tune compare`: saved kernels against the current ones, in the same session.

use std::process::ExitCode;

use clap::ValueEnum as _;
use kiln::devices::name_of;
use kiln::{Device, Kernel};
use kiln_cache::Cache;
use serde::Serialize;

use super::output::{checked, print, print_json, read_project};
use crate::cli::CompareArgs;
use crate::cli::options;
use crate::error::Failure;
use crate::lab::machine;
use crate::lab::preflight;
use crate::lab::scratch::Scratch;
use crate::progress::Counter;
use crate::regime::Regime;
use crate::run::budget::Budget;
use crate::watch::compare::{self, Terms};
use crate::watch::plan::{self, Chosen, Plan};
use crate::watch::saved::{Saved, Section};
use crate::watch::stage::{self, Setting, Stage};
use crate::watch::table;
use crate::watch::verdict::{Gate, Row, Verdict};

/// What a comparison came to.
#[derive(Serialize)]
struct Report {
    file: String,
    saved_by: String,
    saved_unix_s: u64,
    fail_above: Option<f64>,
    fail_inconclusive: bool,
    margin: f64,
    failed: bool,
    rows: Vec<Row>,
}

type Opened = (String, Device);

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
        args,
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
    if rows.iter().all(|row| row.verdict == Verdict::New) {
        return Err(nothing_chosen(args));
    }
    report(args, &saved, gate, rows)
}

/// The devices of these names; all that are here where none is named.
fn open(names: &[String]) -> Result<Vec<Opened>, Failure> {
    if names.is_empty() {
        let here = kiln::devices().into_iter();
        return Ok(here.map(|device| (name_of(&*device), device)).collect());
    }
    machine::open_devices(names)
}

/// Sections by number, each with the first device of its kind.
fn matched(saved: &Saved, devices: &[Opened]) -> Vec<(usize, usize)> {
    let sections = saved.sections.iter().enumerate();
    let of_kind = |section: &Section| {
        let mut here = devices.iter();
        here.position(|(_, device)| stage::is_of_kind(&section.device, &device.info().key))
    };
    sections
        .filter_map(|(number, section)| Some((number, of_kind(section)?)))
        .collect()
}

fn nothing_here(saved: &Saved, devices: &[Opened]) -> Failure {
    let names = |names: Vec<String>| {
        if names.is_empty() {
            "none".into()
        } else {
            names.join(", ")
        }
    };
    let then = saved
        .sections
        .iter()
        .map(|section| section.device.to_string());
    Failure::NoDevice(format!(
        "nothing can be compared: the file was saved on {}, and here is {}\nhelp: compare on a machine of that kind, or \
         save again here with `tune bench --save`",
        names(then.collect()),
        names(here(devices))
    ))
}

/// A watch that watches nothing must not pass.
fn nothing_chosen(args: &CompareArgs) -> Failure {
    Failure::Other(format!(
        "{} has no kernel and problem of those that were chosen: nothing can be compared\nhelp: run `tune list`; save again with `tune bench --save`",
        args.file.display()
    ))
}

fn here(devices: &[Opened]) -> Vec<String> {
    let keys = devices
        .iter()
        .map(|(_, device)| device.info().key.to_string());
    keys.collect()
}

struct Comparing<'a> {
    args: &'a CompareArgs,
    catalogue: &'static [&'static Kernel],
    saved: &'a Saved,
    chosen: Chosen<'a>,
    gate: Gate,
    budget: Budget,
    /// Sections that are compared: they share the 1 % of false alarms.
    sections: usize,
}

impl Comparing<'_> {
    fn rows(
        &self,
        cache: &Cache,
        devices: &[Opened],
        matched: &[(usize, usize)],
    ) -> Result<Vec<Row>, Failure> {
        let folder = Scratch::new(cache.folder())?;
        let mut rows = Vec::new();
        for (number, section) in self.saved.sections.iter().enumerate() {
            let Some((_, device)) = matched.iter().find(|(section, _)| *section == number) else {
                if !self.args.devices.is_empty() {
                    // Of another device than those that are meant.
                    continue;
                }
                let here = here(devices).join(", ");
                let mut other = plan::elsewhere(&self.chosen, section, &here);
                for row in &mut other {
                    row.fails = self.gate.fails(row);
                }
                rows.extend(other);
                continue;
            };
            let (name, device) = &devices[*device];
            preflight::check(name, &**device, self.args.watch.allow_shared_gpu)?;
            // Of the same regime as then, unless another is asked for.
            let then = Regime::from_str(&section.regime, false).ok();
            let setting = Setting {
                catalogue: self.catalogue,
                cache: cache.folder(),
                folder: folder.path(),
                regime: self.args.watch.regime.regime.or(then),
                seed: self.args.watch.seed,
                peers: &[],
            };
            rows.extend(stage::on(setting, name, &**device, |stage| {
                self.section(stage, section)
            })?);
        }
        Ok(rows)
    }

    fn section(&self, stage: &Stage<'_>, section: &Section) -> Result<Vec<Row>, Failure> {
        let plans = plan::plan(stage, &self.chosen, self.saved, section)?;
        let comparisons = plans
            .iter()
            .filter(|plan| matches!(plan, Plan::Measure(_)))
            .count();
        let progress = Counter::new("comparisons", comparisons as u64);
        let terms = Terms {
            gate: self.gate,
            claims: u32::try_from(comparisons * self.sections).unwrap_or(u32::MAX),
            budget: &self.budget,
            progress: &progress,
        };
        let rows = compare::carry_out(stage, section, plans, &terms);
        progress.finish();
        Ok(rows)
    }
}

fn report(
    args: &CompareArgs,
    saved: &Saved,
    gate: Gate,
    rows: Vec<Row>,
) -> Result<ExitCode, Failure> {
    let failed = rows.iter().any(|row| row.fails);
    if args.watch.output.json {
        print_json(&Report {
            file: args.file.display().to_string(),
            saved_by: format!("kiln {}", saved.kiln),
            saved_unix_s: saved.unix_s,
            fail_above: gate.fail_above,
            fail_inconclusive: gate.fail_inconclusive,
            margin: gate.margin(),
            failed,
            rows,
        })?;
    } else {
        let mut text = table::of_comparison(&rows);
        for row in rows.iter().filter(|row| row.fails) {
            text += &format!("fails: {}\n", table::why_it_fails(row, gate.fail_above));
        }
        print(&text);
    }
    Ok(checked(!failed))
}
