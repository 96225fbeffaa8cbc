//! The table of `tune inspect`. The rows can be formatted as aligned text or serialised as JSON.

use kiln_spec::targets::KnownTarget;
use serde::Serialize;

use super::inspected::Inspected;
use super::launchable::{CannotLaunch, block_needs};
use super::resources::{Resources, Spills};

/// One row of the table: one config on one target.
#[derive(Clone, Debug, Serialize)]
pub struct InspectRow {
    /// The architecture of the target.
    pub target: &'static str,
    /// The package that declares the kernel.
    pub package: String,
    /// The name of the kernel.
    pub kernel: String,
    /// The problem, as text.
    pub problem: String,
    /// Which config this is: the baseline, the reference entry, a baked row (with its device), a corner of the space, a
    /// config from the command line, or one of those that a run tries first.
    pub what: String,
    /// The config, as text.
    pub config: String,
    /// The resources and the occupancy; `None` if the config does not compile or its resources cannot be read.
    pub figures: Option<Figures>,
    /// Why the config cannot be compiled, inspected or launched.
    pub error: Option<String>,
}

/// The resources and the occupancy of a config.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// The symbol of the config's release entry.
    pub symbol: String,
    /// Threads per block.
    pub threads: u64,
    /// Dynamic shared memory per block, in bytes.
    pub dynamic_shared_bytes: u32,
    /// The resources that the compiler reports.
    #[serde(flatten)]
    pub resources: Resources,
    /// Resident blocks per multiprocessor.
    pub blocks_per_multiprocessor: u32,
    /// Occupancy in percent: resident warps per multiprocessor divided by the maximum.
    pub occupancy_percent: f64,
    /// The name of the resource that limits the occupancy.
    pub limiter: &'static str,
}

impl Figures {
    fn new(known: &KnownTarget, inspected: &Inspected, resources: Resources) -> Option<Figures> {
        let occupancy = known.occupancy(&block_needs(&resources, &inspected.plan))?;
        Some(Figures {
            symbol: inspected.symbol.clone(),
            threads: inspected.plan.threads_per_block(),
            dynamic_shared_bytes: inspected.plan.shared_bytes,
            resources,
            blocks_per_multiprocessor: occupancy.blocks,
            occupancy_percent: (occupancy.fraction() * 1000.0).round() / 10.0,
            limiter: occupancy.limiter.name(),
        })
    }
}

impl InspectRow {
    /// Sets the figures and the error of the row from an inspected candidate.
    pub fn fill(&mut self, known: &KnownTarget, inspected: &Inspected) {
        match &inspected.resources {
            Ok(resources) => self.figures = Figures::new(known, inspected, *resources),
            Err(error) => self.error = Some(error.to_string()),
        }
        let cannot = inspected.cannot.as_ref().map(CannotLaunch::to_string);
        self.error = self.error.take().or(cannot);
    }

    fn cells(&self) -> Vec<String> {
        let mut cells = vec![self.what.clone()];
        match &self.figures {
            None => cells.extend(std::iter::repeat_n("-".to_owned(), HEADINGS.len() - 2)),
            Some(figures) => {
                let resources = &figures.resources;
                cells.extend([
                    resources.registers.to_string(),
                    resources
                        .spills
                        .map_or("?".into(), |spills: Spills| spills.to_string()),
                    resources.limits.static_shared_bytes.to_string(),
                    figures.dynamic_shared_bytes.to_string(),
                    resources.stack_bytes.to_string(),
                    resources
                        .limits
                        .max_threads
                        .map_or("-".into(), |most| most.to_string()),
                    figures.threads.to_string(),
                    figures.blocks_per_multiprocessor.to_string(),
                    format!("{:.0} %", figures.occupancy_percent),
                    figures.limiter.to_owned(),
                ]);
            }
        }
        cells.push(self.config.clone());
        cells
    }
}

const HEADINGS: [&str; 12] = [
    "",
    "regs",
    "spills",
    "static",
    "dynamic",
    "stack",
    "max thr",
    "threads",
    "blocks",
    "occupancy",
    "limited by",
    "config",
];

/// Formats rows as text, with a heading per target and kernel. Columns are aligned across all headings.
pub fn to_text(rows: &[InspectRow], title: impl Fn(&str) -> String) -> String {
    let cells: Vec<Vec<String>> = rows.iter().map(InspectRow::cells).collect();
    let width = |column: usize| {
        let widest = cells
            .iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0);
        widest.max(HEADINGS[column].len())
    };
    let widths: Vec<usize> = (0..HEADINGS.len()).map(width).collect();
    let headings = HEADINGS.map(str::to_owned);
    let mut text = String::new();
    let mut last = ("", "", "");
    for (row, cells) in rows.iter().zip(&cells) {
        let here = (row.target, row.kernel.as_str(), row.problem.as_str());
        if here.0 != last.0 {
            text += &format!(
                "{}{}\n",
                if text.is_empty() { "" } else { "\n" },
                title(row.target)
            );
        }
        if here != last {
            text += &format!(
                "\n{} ({})\n{}",
                row.kernel,
                row.problem,
                line(&headings, &widths)
            );
        }
        text += &line(cells, &widths);
        if let Some(error) = &row.error {
            text += &format!("      {}\n", error.replace('\n', "\n      "));
        }
        last = here;
    }
    text
}

/// Formats one line. Text columns (the first and the last two) are left-aligned, figures right-aligned.
fn line(cells: &[String], widths: &[usize]) -> String {
    let left = |column: usize| column == 0 || column + 2 >= widths.len();
    let padded = cells
        .iter()
        .zip(widths)
        .enumerate()
        .map(|(column, (cell, &width))| {
            if left(column) {
                format!("{cell:<width$}")
            } else {
                format!("{cell:>width$}")
            }
        });
    let joined = padded.collect::<Vec<_>>().join("  ");
    format!("  {}\n", joined.trim_end())
}
