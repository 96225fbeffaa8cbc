//! Bakes: writes proven winners as rows into the text tables that the macro reads. A row is one config for one problem
//! on one device.
//!
//! Only the rows of the measured device are replaced. Rows of this machine's cpu and of the fake device go to a folder
//! under the build directory, unless the user requests otherwise. By default, the repository therefore contains only
//! rows of GPUs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use kiln::Kernel;
use kiln_cache::record::{KeptReason, Verdict};
use kiln_cache::{Cache, TrialId, Winner};
use kiln_spec::baked::{
    BakedTable, Evidence, Freshness, GITATTRIBUTES, Hashes, Row, Speedup, TUNED_VARIABLE,
};
use kiln_spec::{Backend, DeviceKey};
use serde::Serialize;

use super::TableError;
use crate::error::Failure;
use crate::tables::files::{
    ReadTable, read_index, read_index_to_update, read_table, read_to_update, write_if_changed,
    write_index,
};
use crate::tables::images;
use crate::tables::local;
use crate::task::{self, Conditions};
use kiln_lab::reference::Oracle;
use kiln_project::{Project, TunedKernel};

/// A table that was written, with the number of rows in it.
#[derive(Clone, Debug, Serialize)]
pub struct TableReport {
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
        let mut damages = match folder == kernel.tuned {
            true => Vec::new(),
            false => local::refresh(&kernel.tuned, &folder)?,
        };
        let earlier = match read_listed(kernel, &folder)? {
            Some(read) => {
                damages.extend(read.damage);
                undecided_rows(kernel, conditions, cache, catalogue, &rows, &read.table)?
            }
            None => Vec::new(),
        };
        let kept = earlier.len();
        rows.extend(earlier);
        tables.push(TableReport {
            kernel: kernel.spec.name.clone(),
            rows: rows.len(),
            path: write_table(kernel, &info.key, rows, &folder)?,
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
        let fresh = |row: &Row| is_fresh(kernel, row);
        if !rows_of(kernel, device)?.iter().any(fresh) {
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
) -> PathBuf {
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
    let folders: BTreeSet<PathBuf> = project
        .kernels
        .iter()
        .map(|kernel| destination(project, kernel, backend, write))
        .collect();
    for folder in folders {
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
/// was complete. Without this row, a build would use the config of another problem, although the baseline is the best
/// version for this problem. A decision gets no row if its outputs were verified with weaker evidence than this program
/// has: a program that contains a reference bakes only configs that were compared with the reference.
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
/// it: if the config has failed, or if the outputs of the decision were verified with weaker evidence than this program
/// has.
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
        let is_it = |row: &&Row| row.problem == text && is_fresh(kernel, row);
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

/// Whether the kernel has not changed since a row was baked.
fn is_fresh(kernel: &TunedKernel, row: &Row) -> bool {
    let now = Hashes::now(&kernel.spec, kernel.source.hash(), row.device.backend);
    row.freshness(&now) == Freshness::Fresh
}

/// The table of a kernel in a folder, to be written again.
fn read_listed(kernel: &TunedKernel, folder: &Path) -> Result<Option<ReadTable>, Failure> {
    let name = &kernel.spec.name;
    let index = read_index_to_update(folder)?;
    let Some(file) = index.file(name) else {
        return Ok(None);
    };
    read_to_update(&folder.join(file), name, &|row| is_fresh(kernel, row))
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
        hashes: Hashes::now(spec, kernel.source.hash(), winner.device.backend),
        image: None,
    })
}

/// Replaces the device's rows in a kernel's table, and lists the table in the index. Files that would not change are
/// not written, so cargo does not rebuild anything needlessly. Returns the path of the table.
///
/// # Errors
/// If the table or the index cannot be read or written.
pub fn write_table(
    kernel: &TunedKernel,
    device: &DeviceKey,
    rows: Vec<Row>,
    folder: &Path,
) -> Result<PathBuf, Failure> {
    let name = &kernel.spec.name;
    let mut index = read_index_to_update(folder)?;
    let wrong = |error| TableError::Kernel {
        kernel: name.clone(),
        error,
    };
    let file = index.insert(name).map_err(wrong)?;
    let path = folder.join(&file);
    let old = read_to_update(&path, name, &|row| is_fresh(kernel, row))?;
    let old = old.map_or_else(|| BakedTable::new(name.as_str()), |read| read.table);
    // If the kernel was renamed, the file may still contain its old name, which a build rejects.
    let mut table = old.renamed(name);
    let rows = with_images(rows, &table);
    table.replace_device(device, rows).map_err(wrong)?;
    fs::create_dir_all(folder).map_err(Failure::file("make the folder", folder))?;
    write_if_changed(&path, table.to_text())?;
    let attributes = folder.join(".gitattributes");
    if !attributes.exists() {
        write_if_changed(&attributes, GITATTRIBUTES)?;
    }
    write_index(folder, &index, [kernel.file.as_path()])?;
    for file in images::left_over(name, folder, &table)? {
        fs::remove_file(&file).map_err(Failure::file("remove", &file))?;
    }
    Ok(path)
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

/// The rows for a device in a kernel's committed table.
///
/// # Errors
/// If a table cannot be read or parsed.
pub fn rows_of(kernel: &TunedKernel, device: &DeviceKey) -> Result<Vec<Row>, Failure> {
    let mut rows = committed_rows(kernel)?;
    rows.retain(|row| row.device == *device);
    Ok(rows)
}

/// All rows of a kernel's committed table.
///
/// # Errors
/// If a table cannot be read or parsed.
pub fn committed_rows(kernel: &TunedKernel) -> Result<Vec<Row>, Failure> {
    let Some(index) = read_index(&kernel.tuned)? else {
        return Ok(Vec::new());
    };
    let Some(file) = index.file(&kernel.spec.name) else {
        return Ok(Vec::new());
    };
    let table = read_table(&kernel.tuned.join(file))?;
    let rows = table.iter().flat_map(|table| table.rows());
    Ok(rows.cloned().collect())
}

/// Messages for the user about the folder to which rows were written.
pub fn notices(tables: &[TableReport], backend: Backend, write: bool) -> Vec<String> {
    let damages = tables.iter().flat_map(|table| &table.damages);
    let damages: BTreeSet<String> = damages.map(|damage| format!("{damage}\n")).collect();
    let mut notices = Vec::from_iter(damages);
    let local = matches!(backend, Backend::Cpu | Backend::Fake) && !write;
    // The folder with a folder for each package.
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
