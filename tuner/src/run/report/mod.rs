//! The report of a run, as text for people and as JSON for programs.

mod by_kernel;
mod task;
mod tests;
mod totals;

use std::fmt::Write;

use kiln_spec::time::Nanoseconds;
use serde::Serialize;

use crate::tables::bake::TableReport;

pub use task::{TaskReport, TaskState};
pub use totals::RunTotals;

/// The report of a run.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// The number of the run in the cache, which `tune report` accepts.
    pub run: u64,
    /// The key of the device.
    pub device: String,
    /// The content of the last-level cache when a timed launch begins: the launch's own data (`hot`) or other data
    /// (`cold`).
    pub regime: &'static str,
    /// One report per kernel and problem.
    pub tasks: Vec<TaskReport>,
    /// The number of problems for each result: proven, baseline kept, undecided and so on.
    pub totals: RunTotals,
    /// The tables that were written, with the number of rows in each.
    pub tables: Vec<TableReport>,
    /// Kernels without a row for this device, because nothing is proven and no search is complete.
    pub without_table: Vec<String>,
    /// Number of candidates that were compiled in this run.
    pub compiles: u64,
    /// Number of timed launches in this run.
    pub launches: u64,
    /// Time in nanoseconds that the strategy used for choosing configs and processing results. Compiling and measuring
    /// are not included.
    pub strategy_ns: u64,
    /// Duration of the run in milliseconds.
    pub elapsed_ms: u64,
    /// Messages for the user that follow the results.
    pub notices: Vec<String>,
}

impl RunReport {
    /// Whether any task failed, for example because its baseline does not work.
    pub fn any_failed(&self) -> bool {
        self.tasks
            .iter()
            .any(|task| matches!(task.state, TaskState::Failed { .. }))
    }

    /// The report as text: all details of each problem if `in_full`, otherwise one line per kernel.
    pub fn to_text(&self, in_full: bool) -> String {
        let mut text = format!("device {}, caches {}\n\n", self.device, self.regime);
        if in_full {
            for task in &self.tasks {
                task.write(&mut text);
            }
            self.write_tables(&mut text);
        } else {
            text += &by_kernel::table(&self.tasks);
            text.push('\n');
            self.count_tables(&mut text);
        }
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

    /// Appends the number of rows and tables, their folder, and the next step to `text`.
    fn count_tables(&self, text: &mut String) {
        let rows: usize = self.tables.iter().map(|table| table.rows).sum();
        let folder = self.tables.first().and_then(|table| table.path.parent());
        if let Some(folder) = folder {
            let tables = self.tables.len();
            let folder = folder.display();
            let _ = writeln!(
                text,
                "{rows} rows of this device in {tables} tables in {folder}"
            );
        }
        if !self.without_table.is_empty() {
            let kernels = self.without_table.join(", ");
            let _ = writeln!(
                text,
                "no table yet: {kernels}: nothing is proven and no search has ended; builds launch the baseline"
            );
        }
        let open =
            |task: &&TaskReport| !matches!(task.state, TaskState::Searched | TaskState::Known);
        if self.tasks.iter().filter(open).count() > 0 {
            text.push_str(
                "searches that had no time left go on when the same command is run again; `--budget` gives them more, `-v` tells everything\n",
            );
        }
        text.push('\n');
    }

    fn write_tables(&self, text: &mut String) {
        for table in &self.tables {
            let kept = match table.kept {
                0 => String::new(),
                kept => format!(", {kept} of them from before"),
            };
            let _ = writeln!(
                text,
                "table: {} ({} rows of this device{kept})",
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
