//! `tune bake --images`: compiles an image for every baked row and writes it to a file next to the table. A program
//! that embeds the images can launch the rows without a compiler.
//!
//! No device is needed, because each row is compiled for the architecture of the device on which it was tuned. The rows
//! do not change, except that each gets a reference to its image. The name of an image file contains the hash of its
//! content, so the same row always gives the same file. Image files to which no row refers are removed.

mod check;
mod error;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use kiln::artifacts::ArtifactCache;
use kiln::backend::cpu::{CpuCompiler, CpuOptions, CpuTarget};
use kiln::compiler::{Artifact, CompileError, CompileRequest, Compiler};
use kiln::image;
use kiln_spec::Backend;
use kiln_spec::baked::{BakedTable, Image, Row};
use rayon::prelude::*;
use serde::Serialize;

pub use check::fault;
pub use error::{ImageFault, NoRowImage, RowError, RowFault};

use super::TableError;
use super::row_unit::row_unit;
use crate::error::{Failure, UsageError};
use kiln_lab::LabError;
use kiln_lab::machine;
use kiln_project::tables::write_if_changed;
use kiln_project::{Project, TunedKernel};

/// The result for one row.
#[derive(Clone, Debug, Serialize)]
pub struct ImageReport {
    /// The package that declares the kernel.
    pub package: String,
    /// The name of the kernel.
    pub kernel: String,
    /// The device of the row.
    pub device: String,
    /// The problem of the row.
    pub problem: String,
    /// The path of the row's image; `None` if the row has no image.
    pub file: Option<PathBuf>,
    /// The target in the header of the image, or why the row has no image.
    pub what: String,
    /// The size of the image in bytes.
    pub bytes: usize,
}

/// The images that were written, and the files that were removed.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ImagesReport {
    /// One result per row.
    pub images: Vec<ImageReport>,
    /// The removed files, to which no row referred.
    pub removed: Vec<PathBuf>,
}

impl ImagesReport {
    /// One line per row and per removed file, followed by the number of rows with an image.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for row in &self.images {
            let whose = format!("{} {} ({})", row.kernel, row.device, row.problem);
            text += &match &row.file {
                Some(file) => format!(
                    "{whose}: {}, {} bytes: {}\n",
                    row.what,
                    row.bytes,
                    file.display()
                ),
                None => format!("{whose}: no image: {}\n", row.what),
            };
        }
        for path in &self.removed {
            text += &format!("removed {}: no row names it\n", path.display());
        }
        let count = self.images.iter().filter(|row| row.file.is_some()).count();
        text + &format!("{count} of {} rows have an image\n", self.images.len())
    }
}

/// Compiles an image for every fresh row of a project's tables, or only for the rows of `targets`. Then writes the
/// images and tables, and removes the files to which no row refers. If any row does not compile, nothing is written.
///
/// # Errors
/// If rows do not compile (the error contains all such rows of a kernel with the reasons), a target has no rows, or a
/// table cannot be read or written.
pub fn bake(project: &Project, targets: &[String]) -> Result<ImagesReport, Failure> {
    let tables = tables(project)?;
    check_targets(&tables, targets)?;
    let compilers = Compilers::for_rows(&tables, targets)?;
    let cache = ArtifactCache::in_cache(&kiln_cache::location::from_environment()?)
        .map_err(LabError::Device)?;
    let mut made = Vec::new();
    for table in &tables {
        made.push(table.compile(targets, &compilers, &cache)?);
    }
    let mut report = ImagesReport::default();
    for (table, rows) in tables.iter().zip(made) {
        table.write(rows, &mut report)?;
    }
    Ok(report)
}

/// The committed table of one kernel.
struct Table<'a> {
    kernel: &'a TunedKernel,
    table: BakedTable,
}

/// A row, with its compiled artifact or the reason why it has no image.
type Made = (Row, Result<Artifact, NoRowImage>);

fn tables(project: &Project) -> Result<Vec<Table<'_>>, Failure> {
    let mut tables = Vec::new();
    for kernel in &project.kernels {
        let table = kernel.tuned.listed_table(&kernel.spec.name)?;
        tables.extend(table.map(|table| Table { kernel, table }));
    }
    Ok(tables)
}

/// The targets of all rows that can have an image, with their backends.
fn baked_targets(tables: &[Table<'_>]) -> BTreeSet<(Backend, String)> {
    let rows = tables.iter().flat_map(|table| table.table.rows());
    rows.filter_map(|row| Some((row.device.backend, Image::target_of(&row.device)?)))
        .collect()
}

fn check_targets(tables: &[Table<'_>], targets: &[String]) -> Result<(), Failure> {
    let baked = baked_targets(tables);
    let known: Vec<&str> = baked.iter().map(|(_, target)| target.as_str()).collect();
    for target in targets {
        if !known.contains(&target.as_str()) {
            let known = match known.is_empty() {
                true => "none".to_owned(),
                false => known.join(", "),
            };
            return Err(Failure::Usage(UsageError {
                flag: "--target",
                value: target.clone(),
                reason: format!("no row is baked for it (rows are baked for: {known})"),
                help: "name one of those, or tune on such a device first",
            }));
        }
    }
    Ok(())
}

/// The compilers, one per target.
struct Compilers(BTreeMap<(Backend, String), Box<dyn Compiler>>);

impl Compilers {
    fn for_rows(tables: &[Table<'_>], targets: &[String]) -> Result<Compilers, Failure> {
        let wanted = baked_targets(tables)
            .into_iter()
            .filter(|(_, target)| targets.is_empty() || targets.contains(target));
        let found = wanted.map(|(backend, target)| {
            let compiler = compiler(backend, &target).map_err(|error| TableError::NoCompiler {
                target: target.clone(),
                error,
            })?;
            let compiler: Box<dyn Compiler> = match machine::isolated(&*compiler)? {
                Some(isolated) => Box::new(isolated),
                None => compiler,
            };
            Ok(((backend, target), compiler))
        });
        found.collect::<Result<_, Failure>>().map(Compilers)
    }
}

/// The compiler for a target, which works without a device.
fn compiler(backend: Backend, target: &str) -> Result<Box<dyn Compiler>, CompileError> {
    if backend != Backend::Cpu {
        return kiln::compile_only::compiler(target);
    }
    // The image is compiled for a named instruction set, not for this machine's processor.
    let options = CpuOptions {
        target: CpuTarget::Named(target.to_owned()),
        ..CpuOptions::default()
    };
    Ok(Box::new(CpuCompiler::find(&options)?))
}

impl Table<'_> {
    fn compile(
        &self,
        targets: &[String],
        compilers: &Compilers,
        cache: &ArtifactCache,
    ) -> Result<Vec<Made>, Failure> {
        let rows: Vec<&Row> = self.table.rows().collect();
        let made: Vec<Result<Made, RowError>> = rows
            .par_iter()
            .filter(|row| {
                let target = Image::target_of(&row.device);
                targets.is_empty() || target.is_some_and(|target| targets.contains(&target))
            })
            .map(|row| self.make(row, compilers, cache))
            .collect();
        let (made, failed): (Vec<_>, Vec<_>) = made.into_iter().partition(Result::is_ok);
        let failed: Vec<RowError> = failed.into_iter().filter_map(Result::err).collect();
        if !failed.is_empty() {
            return Err(TableError::Images {
                kernel: self.kernel.spec.name.clone(),
                rows: failed,
            }
            .into());
        }
        Ok(made.into_iter().flatten().collect())
    }

    /// Compiles one row. The outer error ends the command; the inner error says why the row cannot have an image.
    fn make(
        &self,
        row: &Row,
        compilers: &Compilers,
        cache: &ArtifactCache,
    ) -> Result<Made, RowError> {
        let without = |why| Ok((row.clone(), Err(why)));
        let backend = row.device.backend;
        let Some(target) = Image::target_of(&row.device) else {
            return without(NoRowImage::Device);
        };
        if let Some(which) = self.kernel.stale_part(row) {
            return without(NoRowImage::Stale { which });
        }
        let unit = row_unit(self.kernel, row).map_err(|error| RowError::of(row, error))?;
        let request = CompileRequest::new(unit.release.as_str(), unit.text.as_str());
        let compiler = &*compilers.0[&(backend, target)];
        let artifact = cache
            .compile(compiler, backend, &request)
            .map_err(|error| RowError::of(row, error))?;
        check::check(&artifact.image, row).map_err(|error| RowError::of(row, error))?;
        Ok((row.clone(), Ok(artifact)))
    }

    /// Writes the images, then the table that refers to them, and then removes the other image files. In this order, a
    /// table never refers to a file that does not exist.
    ///
    /// Compiling takes minutes, in which another command may have written the table. Therefore the table is read again,
    /// and rows that have changed get no image.
    fn write(&self, made: Vec<Made>, report: &mut ImagesReport) -> Result<(), Failure> {
        let folder = &self.kernel.tuned;
        let name = &self.kernel.spec.name;
        let lock = folder.lock()?;
        let current = folder.listed_table(name)?;
        let mut table = current.unwrap_or_else(|| BakedTable::new(name.as_str()));
        for (mut row, artifact) in made {
            let is_unchanged = table.rows().any(|current| *current == row);
            let artifact = if is_unchanged {
                artifact
            } else {
                Err(NoRowImage::Changed)
            };
            let (file, what, bytes) = match &artifact {
                Err(why) => (None, why.to_string(), 0),
                Ok(artifact) => {
                    let image = Image::of(name, &row.device, &artifact.target, &artifact.image);
                    let path = folder.path().join(&image.file);
                    write_if_changed(&path, &artifact.image)?;
                    row.image = Some(image);
                    let what = image::describe(&artifact.image).unwrap_or_default();
                    (Some(path), what, artifact.image.len())
                }
            };
            report.images.push(ImageReport {
                package: self.kernel.package.clone(),
                kernel: name.clone(),
                device: row.device.to_string(),
                problem: row.problem.clone(),
                file,
                what,
                bytes,
            });
            if is_unchanged {
                replace(&mut table, row)?;
            }
        }
        let written = folder.write(&table, &lock)?;
        report.removed.extend(written.removed);
        Ok(())
    }
}

/// Replaces the row for the same device and problem.
fn replace(table: &mut BakedTable, row: Row) -> Result<(), Failure> {
    let device = row.device.clone();
    let mut rows: Vec<Row> = table.device_rows(&device).cloned().collect();
    for old in &mut rows {
        if old.problem == row.problem {
            *old = row.clone();
        }
    }
    let replaced = table.replace_device(&device, rows);
    Ok(replaced.map_err(TableError::Replaced)?)
}
