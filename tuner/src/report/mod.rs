//! What a run found, as a table for people and JSON for programs.

mod task;
mod totals;

use std::fmt::Write;
use std::path::PathBuf;

use kiln_spec::time::Nanoseconds;
use serde::Serialize;

pub(crate) use task::grade;
pub use task::{TaskReport, TaskState};
pub use totals::Totals;

/// What a run found.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// Number of the run in the cache: what `tune report` calls it.
    pub run: u64,
    /// The device.
    pub device: String,
    /// What timed launches found in the last-level cache: their data (`hot`) or that of others (`cold`).
    pub regime: &'static str,
    /// One entry for each kernel and problem.
    pub tasks: Vec<TaskReport>,
    /// The same, counted.
    pub totals: Totals,
    /// The tables that were written, and the rows in each.
    pub tables: Vec<TableReport>,
    /// Kernels without a row of this device: nothing was proven, and no search was carried to its end.
    pub without_table: Vec<String>,
    /// Candidates compiled in this run.
    pub compiles: u64,
    /// Launches made in this run, to verify and to time.
    pub launches: u64,
    /// Time in the strategy, in nanoseconds: choosing configs and taking in their results, apart from compiling and measuring.
    pub strategy_ns: u64,
    /// How long the run took, in milliseconds.
    pub elapsed_ms: u64,
    /// What the user should know beside.
    pub notices: Vec<String>,
}

/// A table that was written.
#[derive(Clone, Debug, Serialize)]
pub struct TableReport {
    /// The kernel.
    pub kernel: String,
    /// Where it was written.
    pub path: PathBuf,
    /// Rows of this device in it.
    pub rows: usize,
}

impl RunReport {
    /// Whether a kernel has no working baseline.
    pub fn any_failed(&self) -> bool {
        self.tasks
            .iter()
            .any(|task| matches!(task.state, TaskState::Failed { .. }))
    }

    /// The report as text.
    pub fn to_text(&self) -> String {
        let mut text = format!("device {}, caches {}\n\n", self.device, self.regime);
        for task in &self.tasks {
            task.write(&mut text);
        }
        self.write_tables(&mut text);
        for notice in &self.notices {
            text.push_str(notice);
            text.push('\n');
        }
        if self.tasks.iter().any(|task| !task.examples.is_empty()) {
            let run = self.run;
            let _ = writeln!(
                text,
                "every config that failed, and why: `tune report {run}`"
            );
        }
        if self.tasks.len() > 1 {
            let _ = writeln!(text, "{}", self.totals);
        }
        let seconds = self.elapsed_ms as f64 / 1e3;
        let _ = writeln!(
            text,
            "{} compiles, {} launches, {seconds:.1} s, of it {} in the strategy; run {}, drawn by `tune report`",
            self.compiles,
            self.launches,
            Nanoseconds(self.strategy_ns),
            self.run
        );
        text
    }

    fn write_tables(&self, text: &mut String) {
        for table in &self.tables {
            let _ = writeln!(
                text,
                "table: {} ({} rows of this device)",
                table.path.display(),
                table.rows
            );
        }
        for kernel in &self.without_table {
            let _ = writeln!(
                text,
                "no table: {kernel}: nothing is proven and no search has ended; builds launch the baseline"
            );
        }
        if !(self.tables.is_empty() && self.without_table.is_empty()) {
            text.push('\n');
        }
    }
}
