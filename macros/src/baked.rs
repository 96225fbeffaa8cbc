//! Reads the baked tables of a kernel: finds each table through its index, parses it strictly, and drops stale rows.

use std::path::{Path, PathBuf};

use kiln_spec::baked::{
    BakedTable, Freshness, Hashes, INDEX_FILE, Image, Index, MAX_TABLE_BYTES, OverlaidRow,
    ResolvedRow, Row, TUNED_VARIABLE, overlay,
};
use kiln_spec::codegen::{Symbol, Target, symbol_hash};
use kiln_spec::source::SourceText;
use kiln_spec::{Hash, KernelSpec};

use crate::load::{self, DeclarationSite};
use crate::unusable::{UnusableRow, UnusableTable};

/// Maximum size of an embedded image (a compiled kernel in a file), in bytes.
const MAX_IMAGE_BYTES: u64 = 64 << 20;

/// The baked rows of one kernel. A row is one config for one problem on one device.
#[derive(Clone, Debug, Default)]
pub(crate) struct BakedRows {
    /// The rows that may be used: first those of the local table, then those of the package's table, each in the order
    /// of its table.
    pub(crate) rows: Vec<FreshRow>,
    /// Warnings about missing rows and about rows that are not used.
    pub(crate) warnings: Vec<BuildWarning>,
    /// The files that were read. The build must be repeated if one of them changes.
    pub(crate) paths: Vec<PathBuf>,
}

/// A warning about rows that are missing or not used.
#[derive(Clone, Debug)]
pub(crate) enum BuildWarning {
    /// The kernel has no baked rows, which may be intended.
    Untuned(String),
    /// A baked row is not used, for example because it is stale.
    Unused(String),
}

impl BuildWarning {
    /// The text of the warning, with its `help:` line.
    pub(crate) fn text(&self) -> &str {
        match self {
            BuildWarning::Untuned(text) | BuildWarning::Unused(text) => text,
        }
    }
}

/// A row whose inputs have not changed since it was baked.
#[derive(Clone, Debug)]
pub(crate) struct FreshRow {
    pub(crate) row: Row,
    pub(crate) resolved: ResolvedRow,
    /// The path of the row's image, if it has one.
    pub(crate) image: Option<PathBuf>,
}

/// Reads the baked rows of a kernel: those of the package, and those of the local tables that `KILN_TUNED` names.
///
/// # Errors
/// If a file cannot be read, or does not have the format that `tune` writes.
pub(crate) fn load(
    site: &DeclarationSite,
    spec: &KernelSpec,
    source: &SourceText,
) -> Result<BakedRows, UnusableTable> {
    let mut baked = BakedRows::default();
    let committed = KernelTable::read(site, &site.tuned, spec, &mut baked.paths)?;
    let local = match &site.local {
        Some(folder) => KernelTable::read(site, folder, spec, &mut baked.paths)?,
        None => KernelTable::default(),
    };
    if let Some(folder) = site.local.as_deref().filter(|folder| is_absent(folder)) {
        baked.warnings.push(BuildWarning::Untuned(format!(
            "{TUNED_VARIABLE} names the folder {}, which does not exist: only the tables of the package are used\n\
             help: set {TUNED_VARIABLE} to the folder that `tune run` prints, or unset it",
            site.shown(folder)
        )));
    }
    let is_fresh = |row: &Row| freshness(spec, source, row) == Freshness::Fresh;
    let rows = overlay(&local.rows, &committed.rows, &is_fresh);
    // A missing table is reported only if no table has rows.
    let (missing, lost): (Vec<_>, Vec<_>) = [committed.warning, local.warning]
        .into_iter()
        .flatten()
        .partition(|warning| matches!(warning, BuildWarning::Untuned(_)));
    baked.warnings.extend(lost);
    if rows.is_empty() {
        baked.warnings.extend(missing.into_iter().next());
    }
    let mut stale = Vec::new();
    for OverlaidRow { row, is_local } in rows {
        let table = match is_local {
            true => &local.path,
            false => &committed.path,
        };
        match freshness(spec, source, row) {
            Freshness::Stale { which, baked, now } => stale.push((row, which, baked, now)),
            Freshness::Fresh => {
                baked
                    .add(site, spec, source, row, table)
                    .map_err(|error| UnusableTable::Row {
                        file: site.shown(table),
                        error: Box::new(error),
                    })?
            }
        }
    }
    baked.warnings.extend(stale_rows(&spec.name, &stale));
    Ok(baked)
}

/// Returns the warning about stale rows; `None` if there are none. `stale` contains, for each row, the input that
/// changed and this input's saved and current hash.
fn stale_rows(kernel: &str, stale: &[(&Row, &str, Hash, Hash)]) -> Option<BuildWarning> {
    let (row, which, saved, current) = stale.first()?;
    let count = match stale.len() {
        1 => format!("1 baked row of `{kernel}` is"),
        many => format!("{many} baked rows of `{kernel}` are"),
    };
    Some(BuildWarning::Unused(format!(
        "{count} stale and not used; the first is the row of `{}` for {}: the hash of the {which} was {saved} when the \
         row was baked, but it is {current} now\n\
         help: {}",
        row.device,
        row.problem,
        row.renewal(kernel)
    )))
}

fn freshness(spec: &KernelSpec, source: &SourceText, row: &Row) -> Freshness {
    row.freshness(&Hashes::now(spec, source.hash(), row.device.backend))
}

/// The table of one kernel in a folder of tables.
#[derive(Debug, Default)]
struct KernelTable {
    /// The path of the table; empty if the folder has none.
    path: PathBuf,
    rows: Vec<Row>,
    /// The reason why there are no rows.
    warning: Option<BuildWarning>,
}

impl KernelTable {
    /// Reads the table of a kernel in a folder, if the folder's index lists it. Adds the files that it read to `paths`.
    fn read(
        site: &DeclarationSite,
        folder: &Path,
        spec: &KernelSpec,
        paths: &mut Vec<PathBuf>,
    ) -> Result<KernelTable, UnusableTable> {
        let kernel = &spec.name;
        let without = |warning| KernelTable {
            warning: Some(warning),
            ..KernelTable::default()
        };
        let index_path = folder.join(INDEX_FILE);
        if is_absent(&index_path) {
            return Ok(without(without_index(site, folder, kernel)));
        }
        let index = read_index(site, &index_path)?;
        paths.push(index_path);
        let Some(file) = index.file(kernel) else {
            let lost = lost_table(folder, kernel);
            let warning = unlisted(site, spec, lost.as_deref());
            paths.extend(lost);
            return Ok(without(warning));
        };
        let path = folder.join(file);
        let rows = read_table(site, &path, kernel)?;
        paths.push(path.clone());
        let warning = rows.is_empty().then(|| {
            BuildWarning::Untuned(format!(
                "kernel `{kernel}` is not baked: {} has no rows, so the program launches its baseline\nhelp: {}",
                site.shown(&path),
                site.how_to_tune(spec)
            ))
        });
        Ok(KernelTable {
            path,
            rows,
            warning,
        })
    }
}

/// The rows of a table.
fn read_table(
    site: &DeclarationSite,
    path: &Path,
    kernel: &str,
) -> Result<Vec<Row>, UnusableTable> {
    let file = || site.shown(path);
    let text = load::read_bytes(path, MAX_TABLE_BYTES as u64).map_err(|error| {
        UnusableTable::UnreadTable {
            kernel: kernel.to_owned(),
            file: file(),
            error,
        }
    })?;
    let table = BakedTable::parse_for(&text, kernel).map_err(|error| UnusableTable::Format {
        file: file(),
        error: Box::new(error),
    })?;
    Ok(table.rows().cloned().collect())
}

/// The warning that an index does not list the kernel. `lost` is the kernel's table, if it exists nevertheless.
fn unlisted(site: &DeclarationSite, spec: &KernelSpec, lost: Option<&Path>) -> BuildWarning {
    let kernel = &spec.name;
    match lost {
        Some(lost) => BuildWarning::Unused(format!(
            "kernel `{kernel}` is not baked: {} is there, but {INDEX_FILE} does not list it\n\
             help: run `tune init`, which lists every table of the folder",
            site.shown(lost)
        )),
        None => BuildWarning::Untuned(format!(
            "kernel `{kernel}` is not baked: the program launches its baseline\nhelp: {}",
            site.how_to_tune(spec)
        )),
    }
}

/// The warning that no kernel of a folder has rows, because the index does not exist.
fn without_index(site: &DeclarationSite, folder: &Path, kernel: &str) -> BuildWarning {
    // A missing index is not an error, because a package must build before `tune init` writes the index. Cargo cannot
    // watch a file that does not exist. Therefore `tune` marks the declaring file as changed when it writes the first
    // index. If git restores the index instead, nothing marks the declaring file, so the warning says that cargo does
    // not notice.
    let index = site.shown(&folder.join(INDEX_FILE));
    match lost_table(folder, kernel) {
        Some(lost) => BuildWarning::Unused(format!(
            "kernel `{kernel}` is not baked: {} is there, but there is no {index}\n\
             help: run `tune init`, which lists every table of the folder; or restore the index, and change the date \
             of the file that declares the kernel (`touch`), because cargo does not notice when the index appears",
            site.shown(&lost)
        )),
        None => BuildWarning::Untuned(format!(
            "kernel `{kernel}` is not baked, because there is no {index}: the program launches its baseline, and \
             cargo does not notice when the file appears\n\
             help: run `tune init` in this package, and commit what it writes; a `build.rs` that prints \
             `cargo::rerun-if-changed=tuned` makes cargo notice a restored or pulled index"
        )),
    }
}

/// Whether a file does not exist. Returns `false` for a file that cannot be reached and for a dangling link, because
/// reading them then reports an error.
fn is_absent(path: &Path) -> bool {
    let found = std::fs::symlink_metadata(path);
    found.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

fn read_index(site: &DeclarationSite, path: &Path) -> Result<Index, UnusableTable> {
    let file = site.shown(path);
    let bytes = match load::read_bytes(path, MAX_TABLE_BYTES as u64) {
        Ok(bytes) => bytes,
        Err(error) => return Err(UnusableTable::UnreadIndex { file, error }),
    };
    Index::parse(&bytes).map_err(|error| {
        let error = Box::new(error);
        UnusableTable::Format { file, error }
    })
}

/// The kernel's table, if it exists although the index does not list it. A merge may have lost the line of the index.
fn lost_table(folder: &Path, kernel: &str) -> Option<PathBuf> {
    let path = folder.join(format!("{kernel}.toml"));
    path.is_file().then_some(path)
}

impl BakedRows {
    /// Removes the warnings that a kernel has no rows, for kernels with `untuned = allow`.
    pub(crate) fn allow_untuned(&mut self) {
        self.warnings
            .retain(|warning| !matches!(warning, BuildWarning::Untuned(_)));
    }

    /// Adds a fresh row of the table at a path.
    fn add(
        &mut self,
        site: &DeclarationSite,
        spec: &KernelSpec,
        source: &SourceText,
        row: &Row,
        table: &Path,
    ) -> Result<(), UnusableRow> {
        let resolved = row.resolve(spec)?;
        check_symbol(spec, source, row, &resolved)?;
        let image = self.image(site, row, table)?;
        self.rows.push(FreshRow {
            row: row.clone(),
            resolved,
            image,
        });
        Ok(())
    }

    /// The path of the row's image, which is next to the table; `None` if the row has no image. It is an error if the
    /// file differs from the baked image.
    fn image(
        &mut self,
        site: &DeclarationSite,
        row: &Row,
        table: &Path,
    ) -> Result<Option<PathBuf>, UnusableRow> {
        let Some(Image { file, target, hash }) = &row.image else {
            return Ok(None);
        };
        let path = table.with_file_name(file);
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

/// Checks that the symbol in a row is the symbol of the row's entry and config.
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
