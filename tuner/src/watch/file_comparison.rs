//! Compares the kernels in a file with the current kernels, on each available device.

use std::path::Path;

use kiln::Kernel;
use kiln_cache::Cache;
use serde::Serialize;

use super::compare::{self, Terms};
use super::plan::{self, Chosen, Plan};
use super::saved::{Saved, Section};
use super::stage::{self, Setting, WatchSession};
use super::table;
use super::verdict::{Gate, WatchRow};
use crate::error::{Failure, NoDevice};
use crate::progress::Counter;
use crate::run::budget::Budget;
use kiln_lab::machine::Opened;
use kiln_lab::preflight;
use kiln_lab::regime::Regime;
use kiln_lab::scratch::Scratch;

/// The report of `tune compare`.
#[derive(Serialize)]
pub struct Report {
    file: String,
    saved_by: String,
    saved_unix_s: u64,
    fail_above: Option<f64>,
    fail_inconclusive: bool,
    margin: f64,
    /// Whether any row fails the command.
    pub failed: bool,
    rows: Vec<WatchRow>,
}

impl Report {
    /// Creates the report from the rows of a comparison.
    pub fn new(file: &Path, saved: &Saved, gate: Gate, rows: Vec<WatchRow>) -> Report {
        Report {
            file: file.display().to_string(),
            saved_by: format!("kiln {}", saved.kiln),
            saved_unix_s: saved.unix_s,
            fail_above: gate.fail_above,
            fail_inconclusive: gate.fail_inconclusive,
            margin: gate.margin(),
            failed: rows.iter().any(|row| row.fails),
            rows,
        }
    }

    /// The table, followed by one line for each row that fails.
    pub fn to_text(&self) -> String {
        let mut text = table::of_comparison(&self.rows);
        for row in self.rows.iter().filter(|row| row.fails) {
            text += &format!("fails: {}\n", table::why_it_fails(row, self.fail_above));
        }
        text
    }
}

/// For each section of a file, its index and the index of the first device of the same kind. Sections without such a
/// device are left out.
pub fn matched(saved: &Saved, devices: &[Opened]) -> Vec<(usize, usize)> {
    let sections = saved.sections.iter().enumerate();
    let of_kind = |section: &Section| {
        let mut here = devices.iter();
        here.position(|(_, device)| stage::is_of_kind(&section.device, &device.info().key))
    };
    sections
        .filter_map(|(number, section)| Some((number, of_kind(section)?)))
        .collect()
}

/// The error if this machine has no device for any section.
pub fn nothing_here(saved: &Saved, devices: &[Opened]) -> Failure {
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
    Failure::NoDevice(NoDevice::NothingToCompare {
        saved: names(then.collect()),
        here: names(here(devices)),
    })
}

fn here(devices: &[Opened]) -> Vec<String> {
    let keys = devices
        .iter()
        .map(|(_, device)| device.info().key.to_string());
    keys.collect()
}

/// The settings with which the kernels in a file are compared with the current kernels.
pub struct Comparing<'a> {
    /// Whether only the devices on the command line are compared.
    pub only_named: bool,
    /// Cold or hot caches; `None` for the regime of each section.
    pub regime: Option<Regime>,
    /// The seed of all random choices.
    pub seed: u64,
    /// Whether devices on which other processes compute may be measured.
    pub allow_shared_gpu: bool,
    /// The kernels whose plain-Rust references are linked in.
    pub catalogue: &'static [&'static Kernel],
    /// The content of the file.
    pub saved: &'a Saved,
    /// The selection of kernels.
    pub chosen: Chosen<'a>,
    /// The thresholds for failing rows.
    pub gate: Gate,
    /// The time budget of the command.
    pub budget: Budget,
    /// Number of sections that are compared. The probability of a false alarm, 1 %, is divided among the comparisons of
    /// all these sections.
    pub sections: usize,
}

impl Comparing<'_> {
    /// Compares the sections for which there is a device. The other sections are reported as not available, or left out
    /// if `only_named` is set.
    ///
    /// # Errors
    /// If a device cannot be used, or a table cannot be read.
    pub fn rows(
        &self,
        cache: &Cache,
        devices: &[Opened],
        matched: &[(usize, usize)],
    ) -> Result<Vec<WatchRow>, Failure> {
        let folder = Scratch::new(cache.folder())?;
        let mut rows = Vec::new();
        for (number, section) in self.saved.sections.iter().enumerate() {
            let Some((_, device)) = matched.iter().find(|(section, _)| *section == number) else {
                if self.only_named {
                    // The section belongs to a device that the command line does not specify.
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
            preflight::check(name, &**device, self.allow_shared_gpu)?;
            // The saved regime is used, unless the command line specifies another one.
            let then = Regime::named(&section.regime);
            let setting = Setting {
                catalogue: self.catalogue,
                cache: cache.folder(),
                folder: folder.path(),
                regime: self.regime.or(then),
                seed: self.seed,
                peers: &[],
            };
            rows.extend(stage::on(setting, name, &**device, |stage| {
                self.section(stage, section)
            })?);
        }
        Ok(rows)
    }

    fn section(
        &self,
        stage: &WatchSession<'_>,
        section: &Section,
    ) -> Result<Vec<WatchRow>, Failure> {
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
