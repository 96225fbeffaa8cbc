//! Bakes: writes proven winners as rows into the text tables that the macro reads. A row is one config for one problem
//! on one device.
//!
//! Only the rows of the measured device are replaced. Rows of this machine's cpu and of the fake device go to a folder
//! under the build directory, unless the user requests otherwise. By default, the repository therefore contains only
//! rows of GPUs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use kiln::Kernel;
use kiln_cache::record::{KeptReason, Verdict};
use kiln_cache::{Cache, TrialId, Winner};
use kiln_spec::baked::{BakedTable, Evidence, Row, Speedup, TUNED_VARIABLE};
use kiln_spec::{Backend, DeviceKey};
use serde::Serialize;

use super::TableError;
use crate::error::Failure;
use crate::task::{self, Conditions};
use kiln_lab::reference::Oracle;
use kiln_project::{FolderLock, Project, TableFileError, TableFolder, TunedKernel};

/// A table that was written, with the number of rows in it.
#[derive(Clone, Debug, Serialize)]
pub struct TableReport {
    /// The package that declares the kernel.
    pub package: String,
    /// The name of the kernel.
    pub kernel: String,
    /// The path of the table.
    pub path: PathBuf,
    /// Number of rows for this device in the table.
    pub rows: usize,
    /// Number of these rows that were in the table before, for problems that the cache has not decided.
    pub kept: usize,
    /// Descriptions of damaged tables, whose readable rows were kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub damages: Vec<String>,
}

/// Writes the rows of a device for every kernel that has at least one decision for the device. Fresh rows of the device
/// for problems that the cache has not decided are kept: another cache decided them. With `write`, rows of the cpu go
/// into the package too.
///
/// # Errors
/// If a table or index cannot be read or written.
pub fn bake(
    project: &Project,
    conditions: &Conditions<'_>,
    cache: &Cache,
    catalogue: &[&'static Kernel],
    write: bool,
) -> Result<Vec<TableReport>, Failure> {
    let info = conditions.info;
    let mut tables = Vec::new();
    for kernel in &project.kernels {
        let mut rows = rows(kernel, conditions, cache, catalogue)?;
        if rows.is_empty() {
            continue;
        }
        let folder = destination(project, kernel, info.key.backend, write);
        let name = &kernel.spec.name;
        let lock = folder.lock()?;
        let table = folder.table_to_update(name, &|row| kernel.is_fresh(row))?;
        let damages = Vec::from_iter(table.damage);
        let earlier = undecided_rows(kernel, conditions, cache, catalogue, &rows, &table.table)?;
        let kept = earlier.len();
        rows.extend(earlier);
        tables.push(TableReport {
            package: kernel.package.clone(),
            kernel: name.clone(),
            rows: rows.len(),
            path: write_rows(kernel, &info.key, rows, table.table, (&folder, &lock))?,
            kept,
            damages,
        });
    }
    Ok(tables)
}

/// The kernels in `tuned` that have no row for the device, neither in `tables` (the tables that were just written) nor,
/// as a fresh row, in the committed table.
///
/// # Errors
/// If a committed table cannot be read or parsed.
pub fn without_table(
    project: &Project,
    device: &DeviceKey,
    tuned: &BTreeSet<&str>,
    tables: &[TableReport],
) -> Result<Vec<String>, Failure> {
    let mut without = Vec::new();
    for kernel in &project.kernels {
        let name = &kernel.spec.name;
        let written = tables.iter().any(|table| table.kernel == *name);
        if written || !tuned.contains(name.as_str()) {
            continue;
        }
        let rows = kernel.rows_of(device)?;
        if !rows.iter().any(|row| kernel.is_fresh(row)) {
            without.push(name.clone());
        }
    }
    Ok(without)
}

/// The folder for the rows of a backend's devices: the package's own folder, or the local folder for the cpu and the
/// fake device unless `write` is set.
pub fn destination(
    project: &Project,
    kernel: &TunedKernel,
    backend: Backend,
    write: bool,
) -> TableFolder {
    let local = matches!(backend, Backend::Cpu | Backend::Fake) && !write;
    if local {
        project.local_tables(kernel)
    } else {
        kernel.tuned.clone()
    }
}

/// Checks, before anything is measured, that the rows can be written to their folders.
///
/// # Errors
/// If a folder cannot be written to.
pub fn can_be_written(project: &Project, backend: Backend, write: bool) -> Result<(), Failure> {
    let kernels = project.kernels.iter();
    let folders = kernels.map(|kernel| destination(project, kernel, backend, write));
    for folder in folders.collect::<BTreeSet<TableFolder>>() {
        let folder = folder.path().to_owned();
        // If the folder does not exist yet, its nearest existing parent must be writable.
        let there = folder.ancestors().find(|folder| folder.exists());
        let there = there.unwrap_or(Path::new("/"));
        if let Err(error) = tempfile::tempfile_in(there) {
            let there = there.to_owned();
            return Err(TableError::NotWritable {
                folder,
                there,
                error,
            }
            .into());
        }
    }
    Ok(())
}

/// The rows of a kernel for a device, with one row per decided problem. A kept baseline also gets a row if the search
/// was complete. Without such a row, a build would use the config of another problem for this problem, although the
/// baseline is faster. A decision gets no row if its outputs were verified with weaker evidence than this program has:
/// a program that contains a reference bakes only configs that were compared with the reference.
///
/// # Errors
/// If the cache cannot be read.
pub fn rows(
    kernel: &TunedKernel,
    conditions: &Conditions<'_>,
    cache: &Cache,
    catalogue: &[&'static Kernel],
) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for problem in kernel.spec.problems_on(conditions.info.key.backend) {
        let key = task::key(kernel, problem, conditions);
        // Only a complete search shows that the baseline is the best.
        let whole = cache.search_done(key.hash())?.is_some();
        let grade = Oracle::grade_of(catalogue, kernel, problem);
        let decided = |winner: &Winner| {
            let proven = matches!(winner.verdict, Verdict::Proven { .. });
            (whole || proven) && winner.grade.is_as_strong_as(grade)
        };
        if let Some(winner) = cache.winner(key.hash())?.filter(decided) {
            rows.extend(row(kernel, &winner));
        }
    }
    Ok(rows)
}

/// The fresh rows of the device in a table for problems without a new row. A row is left out if this cache contradicts
/// it, because the config has failed here or because the cache's own decision was verified with weaker evidence than
/// this program has.
fn undecided_rows(
    kernel: &TunedKernel,
    conditions: &Conditions<'_>,
    cache: &Cache,
    catalogue: &[&'static Kernel],
    new: &[Row],
    table: &BakedTable,
) -> Result<Vec<Row>, Failure> {
    let device = &conditions.info.key;
    let mut kept = Vec::new();
    for problem in kernel.spec.problems_on(device.backend) {
        let text = problem.to_string();
        let is_it = |row: &&Row| row.problem == text && kernel.is_fresh(row);
        let row = table.device_rows(device).find(is_it);
        let Some(row) = row.filter(|_| !new.iter().any(|new| new.problem == text)) else {
            continue;
        };
        let key = task::key(kernel, problem, conditions).hash();
        let grade = Oracle::grade_of(catalogue, kernel, problem);
        let decision = cache.winner(key)?;
        let is_weaker = decision.is_some_and(|winner| !winner.grade.is_as_strong_as(grade));
        let config = row.config.clone();
        let trial = cache.trial(&TrialId { key, config })?;
        let has_failed = trial.is_some_and(|trial| trial.stands() && !trial.outcome.is_valid());
        if !is_weaker && !has_failed {
            kept.push(row.clone());
        }
    }
    Ok(kept)
}

/// The row of a decision, for the device of the decision; `None` if the decision is inconclusive.
pub fn row(kernel: &TunedKernel, winner: &Winner) -> Option<Row> {
    let spec = &kernel.spec;
    let (entry, speedup) = match winner.verdict {
        Verdict::Proven {
            speedup_ppm,
            low_ppm,
            high_ppm,
        } => (
            &spec.entry,
            Some(Speedup {
                low_ppm,
                speedup_ppm,
                high_ppm,
            }),
        ),
        Verdict::BaselineKept {
            reason: KeptReason::Inconclusive,
        } => return None,
        Verdict::BaselineKept { .. } => (&spec.baseline.entry, None),
    };
    Some(Row {
        device: winner.device.clone(),
        problem: winner.problem.clone(),
        entry: entry.clone(),
        config: winner.config.clone(),
        evidence: Evidence::Proven,
        speedup,
        baseline: spec.baseline_text(),
        symbol: winner.symbol.clone(),
        plan: winner.plan,
        hashes: kernel.hashes(winner.device.backend),
        image: None,
    })
}

/// Replaces the device's rows in the committed table of a kernel. Returns the path of the table.
///
/// # Errors
/// If the table or the index cannot be read or written.
pub fn replace_rows(
    kernel: &TunedKernel,
    device: &DeviceKey,
    rows: Vec<Row>,
) -> Result<PathBuf, Failure> {
    let name = &kernel.spec.name;
    let lock = kernel.tuned.lock()?;
    let read = kernel
        .tuned
        .table_to_update(name, &|row| kernel.is_fresh(row))?;
    write_rows(kernel, device, rows, read.table, (&kernel.tuned, &lock))
}

/// Replaces the device's rows in a kernel's table, which was read from `folder`, and writes the table.
fn write_rows(
    kernel: &TunedKernel,
    device: &DeviceKey,
    rows: Vec<Row>,
    table: BakedTable,
    (folder, lock): (&TableFolder, &FolderLock),
) -> Result<PathBuf, Failure> {
    let name = &kernel.spec.name;
    // If the kernel was renamed, the file may still contain its old name, which a build rejects.
    let mut table = table.renamed(name);
    let replaced = table.replace_device(device, with_images(rows, &table));
    replaced.map_err(TableFileError::of_kernel(name))?;
    Ok(folder.write(&table, lock)?.path)
}

/// Copies the image of each row from the old table, if the row did not change.
fn with_images(mut rows: Vec<Row>, table: &BakedTable) -> Vec<Row> {
    for row in &mut rows {
        let same = |old: &&Row| {
            old.problem == row.problem && old.symbol == row.symbol && old.hashes == row.hashes
        };
        row.image = table
            .device_rows(&row.device)
            .find(same)
            .and_then(|old| old.image.clone());
    }
    rows
}

/// Messages for the user about the folder to which rows were written.
pub fn notices(tables: &[TableReport], backend: Backend, write: bool) -> Vec<String> {
    let damages = tables.iter().flat_map(|table| &table.damages);
    let damages: BTreeSet<String> = damages.map(|damage| format!("{damage}\n")).collect();
    let mut notices = Vec::from_iter(damages);
    let local = matches!(backend, Backend::Cpu | Backend::Fake) && !write;
    // The folder that contains one folder per package.
    let folder = tables
        .first()
        .and_then(|table| table.path.ancestors().nth(2));
    if let Some(folder) = folder.filter(|_| local) {
        notices.push(format!(
            "rows of this {backend} device are not for the repository; build with {TUNED_VARIABLE}={} to use them, or bake \
             them into the package with `tune bake --write`\n",
            folder.display()
        ));
    }
    notices
}
