//! Reads the baked table of a kernel: finds it through the index, parses it strictly, and drops stale rows.

use std::path::{Path, PathBuf};

use kiln_spec::KernelSpec;
use kiln_spec::baked::{BakedTable, Freshness, Hashes, INDEX_FILE, Image, Index, ResolvedRow, Row};
use kiln_spec::codegen::{Symbol, Target, symbol_hash};
use kiln_spec::source::SourceText;

use crate::load::{self, DeclarationSite};
use crate::unusable::{UnusableRow, UnusableTable};

/// Maximum size of an embedded image, in bytes.
const MAX_IMAGE_BYTES: u64 = 64 << 20;

/// The baked rows of one kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct BakedRows {
    /// The usable rows, in the table's order.
    pub(crate) rows: Vec<FreshRow>,
    /// Warnings about missing or unused rows.
    pub(crate) warnings: Vec<BuildWarning>,
    /// The files that were read; a change of one must cause a rebuild.
    pub(crate) paths: Vec<PathBuf>,
}

/// Rows that are missing or not used.
#[derive(Clone, Debug)]
pub(crate) enum BuildWarning {
    /// No row is baked for the kernel, which may be intended.
    Untuned(String),
    /// A baked row is not used.
    Unused(String),
}

impl BuildWarning {
    /// The warning, with its `help:` line.
    pub(crate) fn text(&self) -> &str {
        match self {
            BuildWarning::Untuned(text) | BuildWarning::Unused(text) => text,
        }
    }
}

/// A row that is not stale.
#[derive(Clone, Debug)]
pub(crate) struct FreshRow {
    pub(crate) row: Row,
    pub(crate) resolved: ResolvedRow,
    /// The path of its image.
    pub(crate) image: Option<PathBuf>,
}

/// Reads the baked rows of a kernel.
///
/// # Errors
/// If a file cannot be read, or is not in the format of `tune`.
pub(crate) fn load(
    site: &DeclarationSite,
    spec: &KernelSpec,
    source: &SourceText,
) -> Result<BakedRows, UnusableTable> {
    let mut baked = BakedRows::default();
    let kernel = &spec.name;
    let index_path = site.tuned.join(INDEX_FILE);
    // A first build works before `tune init`. Cargo cannot watch a file that does not exist: `tune` marks the file of
    // the declaration as changed when it writes the first index.
    if is_absent(&index_path) {
        let index = site.shown(&index_path);
        baked.warnings.push(match lost_table(site, kernel) {
            Some(lost) => BuildWarning::Unused(format!(
                "kernel `{kernel}` is not baked: {} is there, but there is no {index}\n\
                 help: restore the index, or run `tune init`, which lists every table of the folder",
                site.shown(&lost)
            )),
            None => BuildWarning::Untuned(format!(
                "kernel `{kernel}` is not baked, there is no {index}: the program launches its baseline\n\
                 help: run `tune init` in this package, and commit what it writes"
            )),
        });
        return Ok(baked);
    }
    let index = read_index(site, &index_path)?;
    baked.paths.push(index_path);
    let Some(file) = index.file(kernel) else {
        if let Some(lost) = lost_table(site, kernel) {
            baked.warnings.push(BuildWarning::Unused(format!(
                "kernel `{kernel}` is not baked: {} is there, but {INDEX_FILE} does not list it\n\
                 help: run `tune init`, which lists every table of the folder",
                site.shown(&lost)
            )));
            baked.paths.push(lost);
            return Ok(baked);
        }
        baked.warnings.push(BuildWarning::Untuned(format!(
            "kernel `{kernel}` is not baked: the program launches its baseline\n\
             help: run `tune run -k {kernel}` on the GPU it is for; for this machine's cpu, `tune run -k {kernel} --device cpu --write`"
        )));
        return Ok(baked);
    };
    let path = site.tuned.join(file);
    let text = load::read_bytes(&path, load::MAX_FILE_BYTES).map_err(|error| {
        UnusableTable::UnreadTable {
            kernel: kernel.clone(),
            file: site.shown(&path),
            error,
        }
    })?;
    baked.paths.push(path.clone());
    let file = site.shown(&path);
    let table = match BakedTable::parse_for(&text, kernel) {
        Ok(table) => table,
        Err(error) => {
            let error = Box::new(error);
            return Err(UnusableTable::Format { file, error });
        }
    };
    match baked.sort_rows(site, spec, source, &table) {
        Ok(()) => Ok(baked),
        Err(error) => Err(UnusableTable::Row {
            file,
            error: Box::new(error),
        }),
    }
}

/// Whether the file does not exist. A file that cannot be reached, or a dangling link, does not count as absent:
/// reading it is an error.
fn is_absent(path: &Path) -> bool {
    let found = std::fs::symlink_metadata(path);
    found.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

fn read_index(site: &DeclarationSite, path: &Path) -> Result<Index, UnusableTable> {
    let file = site.shown(path);
    let bytes = match load::read_bytes(path, load::MAX_FILE_BYTES) {
        Ok(bytes) => bytes,
        Err(error) => return Err(UnusableTable::UnreadIndex { file, error }),
    };
    Index::parse(&bytes).map_err(|error| {
        let error = Box::new(error);
        UnusableTable::Format { file, error }
    })
}

/// The kernel's table if the index does not list it, for example after a merge that lost the line.
fn lost_table(site: &DeclarationSite, kernel: &str) -> Option<PathBuf> {
    let path = site.tuned.join(format!("{kernel}.toml"));
    path.is_file().then_some(path)
}

impl BakedRows {
    /// Removes the warnings of a kernel that is untuned on purpose.
    pub(crate) fn allow_untuned(&mut self) {
        self.warnings
            .retain(|warning| !matches!(warning, BuildWarning::Untuned(_)));
    }

    /// Keeps the fresh rows and counts the stale ones.
    fn sort_rows(
        &mut self,
        site: &DeclarationSite,
        spec: &KernelSpec,
        source: &SourceText,
        table: &BakedTable,
    ) -> Result<(), UnusableRow> {
        let mut stale = Vec::new();
        for row in table.rows() {
            let now = Hashes::now(spec, source.hash(), row.device.backend);
            match row.freshness(&now) {
                Freshness::Stale { which, baked, now } => stale.push((row, which, baked, now)),
                Freshness::Fresh => {
                    let resolved = row.resolve(spec)?;
                    check_symbol(spec, source, row, &resolved)?;
                    let image = self.image(site, row)?;
                    self.rows.push(FreshRow {
                        row: row.clone(),
                        resolved,
                        image,
                    });
                }
            }
        }
        if let Some((row, which, baked, now)) = stale.first() {
            let kernel = &spec.name;
            let count = match stale.len() {
                1 => format!("1 baked row of `{kernel}` is"),
                many => format!("{many} baked rows of `{kernel}` are"),
            };
            self.warnings.push(BuildWarning::Unused(format!(
                "{count} stale and not used; the first, of `{}` for {}, was baked from another {which}: \
                 {baked} then, {now} now\nhelp: {}",
                row.device,
                row.problem,
                row.renewal(kernel)
            )));
        }
        Ok(())
    }

    /// The image next to the table, if the row has one and it is the baked one.
    fn image(&mut self, site: &DeclarationSite, row: &Row) -> Result<Option<PathBuf>, UnusableRow> {
        let Some(Image { file, target, hash }) = &row.image else {
            return Ok(None);
        };
        let path = site.tuned.join(file);
        let shown = || site.shown(&path);
        if Image::target_of(&row.device).as_ref() != Some(target) {
            return Err(UnusableRow::ImageTarget {
                file: shown(),
                target: target.clone(),
                device: Box::new(row.device.clone()),
            });
        }
        let bytes = load::read_bytes(&path, MAX_IMAGE_BYTES).map_err(|error| {
            let file = shown();
            UnusableRow::UnreadImage { file, error }
        })?;
        let found = Image::hash_of(&bytes);
        if found != *hash {
            return Err(UnusableRow::ImageHash {
                file: shown(),
                found,
                baked: *hash,
            });
        }
        self.paths.push(path.clone());
        Ok(Some(path))
    }
}

/// Checks that the symbol in the row is that of its entry.
fn check_symbol(
    spec: &KernelSpec,
    source: &SourceText,
    row: &Row,
    resolved: &ResolvedRow,
) -> Result<(), UnusableRow> {
    let target = Target::from(row.device.backend);
    let (config, problem) = (&resolved.config, &resolved.problem);
    let hash = symbol_hash(source.hash(), spec, &row.entry, config, problem, target)?;
    let symbol = Symbol::release(&row.entry, hash);
    if symbol.as_str() == row.symbol {
        return Ok(());
    }
    Err(UnusableRow::Symbol {
        device: Box::new(row.device.clone()),
        problem: row.problem.clone(),
        found: row.symbol.clone(),
        expected: symbol,
        help: row.renewal(&spec.name),
    })
}
