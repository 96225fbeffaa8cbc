//! Reads the baked table of a kernel: finds the table through the index, parses it strictly, and drops stale rows.

use std::path::{Path, PathBuf};

use kiln_spec::KernelSpec;
use kiln_spec::baked::{
    BakedTable, Freshness, Hashes, INDEX_FILE, Image, Index, ResolvedRow, Row, TUNED_VARIABLE,
};
use kiln_spec::codegen::{Symbol, Target, symbol_hash};
use kiln_spec::source::SourceText;

use crate::load::{self, DeclarationSite};
use crate::unusable::{UnusableRow, UnusableTable};

/// Maximum size of an embedded image (a compiled kernel in a file), in bytes.
const MAX_IMAGE_BYTES: u64 = 64 << 20;

/// The baked rows of one kernel. A row is one config for one problem on one device.
#[derive(Clone, Debug, Default)]
pub(crate) struct BakedRows {
    /// The rows that may be used, in the order of the table.
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

/// Reads the baked rows of a kernel.
///
/// # Errors
/// If a file cannot be read, or does not have the format that `tune` writes.
pub(crate) fn load(
    site: &DeclarationSite,
    spec: &KernelSpec,
    source: &SourceText,
) -> Result<BakedRows, UnusableTable> {
    let mut baked = BakedRows::default();
    let kernel = &spec.name;
    let index_path = site.tuned.join(INDEX_FILE);
    if is_absent(&index_path) {
        baked
            .warnings
            .push(without_index(site, kernel, &index_path));
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
            "kernel `{kernel}` is not baked: the program launches its baseline\nhelp: {}",
            spec.how_to_tune()
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
    if table.rows().next().is_none() {
        baked.warnings.push(BuildWarning::Untuned(format!(
            "kernel `{kernel}` is not baked: {file} has no rows, so the program launches its baseline\nhelp: {}",
            spec.how_to_tune()
        )));
    }
    match baked.sort_rows(site, spec, source, &table) {
        Ok(()) => Ok(baked),
        Err(error) => Err(UnusableTable::Row {
            file,
            error: Box::new(error),
        }),
    }
}

/// The warning that no kernel of the package has rows, because the index does not exist.
fn without_index(site: &DeclarationSite, kernel: &str, index_path: &Path) -> BuildWarning {
    // A missing index is not an error, because a package must build before `tune init` writes the index. Cargo cannot
    // watch a file that does not exist. Therefore `tune` marks the declaring file as changed when it writes the first
    // index. If git restores the index instead, nothing marks the declaring file, so the warning says that cargo does
    // not notice.
    let index = site.shown(index_path);
    match lost_table(site, kernel) {
        Some(lost) => BuildWarning::Unused(format!(
            "kernel `{kernel}` is not baked: {} is there, but there is no {index}\n\
             help: run `tune init`, which lists every table of the folder; or restore the index, and change the date \
             of the file that declares the kernel (`touch`), because cargo does not notice when the index appears",
            site.shown(&lost)
        )),
        None if site.tuned_is_given => BuildWarning::Untuned(format!(
            "kernel `{kernel}` is not baked: {TUNED_VARIABLE} is set, and there is no {index}; the program launches its \
             baseline\nhelp: set {TUNED_VARIABLE} to the folder that `tune run` prints, or unset it to use the tables of \
             the package"
        )),
        None => BuildWarning::Untuned(format!(
            "kernel `{kernel}` is not baked, there is no {index}: the program launches its baseline, and cargo does not \
             notice when the file appears\n\
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
    let bytes = match load::read_bytes(path, load::MAX_FILE_BYTES) {
        Ok(bytes) => bytes,
        Err(error) => return Err(UnusableTable::UnreadIndex { file, error }),
    };
    Index::parse(&bytes).map_err(|error| {
        let error = Box::new(error);
        UnusableTable::Format { file, error }
    })
}

/// The kernel's table, if it exists although the index does not list it. A merge may have lost the line of the index.
fn lost_table(site: &DeclarationSite, kernel: &str) -> Option<PathBuf> {
    let path = site.tuned.join(format!("{kernel}.toml"));
    path.is_file().then_some(path)
}

impl BakedRows {
    /// Removes the warnings that a kernel has no rows, for kernels with `untuned = allow`.
    pub(crate) fn allow_untuned(&mut self) {
        self.warnings
            .retain(|warning| !matches!(warning, BuildWarning::Untuned(_)));
    }

    /// Keeps the fresh rows, and adds a warning for the stale ones.
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
                "{count} stale and not used; the first, of `{}` for {}, was baked with another hash of the \
                 {which}: {baked} then, {now} now\nhelp: {}",
                row.device,
                row.problem,
                row.renewal(kernel)
            )));
        }
        Ok(())
    }

    /// The path of the row's image; `None` if the row has no image. It is an error if the file differs from the baked
    /// image.
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
