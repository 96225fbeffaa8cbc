//! The baked table of a kernel: found through the index, read strictly, stale rows left out.

use std::path::PathBuf;

use kiln_spec::KernelSpec;
use kiln_spec::baked::{BakedTable, Freshness, Hashes, INDEX_FILE, Image, Index, ResolvedRow, Row};
use kiln_spec::codegen::{Symbol, Target, symbol_hash};
use kiln_spec::source::SourceText;

use crate::load::{self, Site};

/// Largest embedded image, in bytes.
const MAX_IMAGE_BYTES: u64 = 64 << 20;

/// What is baked of one kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Baked {
    /// The rows that may be used, in the table's order.
    pub(crate) rows: Vec<FreshRow>,
    /// What is not baked that should be.
    pub(crate) warnings: Vec<Warning>,
    /// The files that were read: a change of one must rebuild.
    pub(crate) paths: Vec<PathBuf>,
}

/// Something that is not baked and should be.
#[derive(Clone, Debug)]
pub(crate) enum Warning {
    /// Nothing is baked for the kernel: an author may want that.
    Untuned(String),
    /// What was baked is not used.
    Unused(String),
}

impl Warning {
    /// The warning, with its `help:` line.
    pub(crate) fn text(&self) -> &str {
        match self {
            Warning::Untuned(text) | Warning::Unused(text) => text,
        }
    }
}

/// A row that is not stale.
#[derive(Clone, Debug)]
pub(crate) struct FreshRow {
    pub(crate) row: Row,
    pub(crate) resolved: ResolvedRow,
    /// The file of its image.
    pub(crate) image: Option<PathBuf>,
}

/// Reads what is baked of a kernel.
///
/// # Errors
/// A text with a `help:` line, when a file is not as `tune` writes it.
pub(crate) fn load(site: &Site, spec: &KernelSpec, source: &SourceText) -> Result<Baked, String> {
    let mut baked = Baked::default();
    let kernel = &spec.name;
    let index_path = site.tuned.join(INDEX_FILE);
    // A first build works before `tune init`. Cargo cannot watch a file that is not there: `tune` marks the file of the
    // declaration as changed when it writes the first index.
    if !index_path.exists() {
        let index = site.shown(&index_path);
        baked.warnings.push(Warning::Untuned(format!(
            "kernel `{kernel}` is not baked, there is no {index}: the program launches its baseline\n\
             help: run `tune init` in this package, and commit what it writes"
        )));
        return Ok(baked);
    }
    let index = load::read_bytes(&index_path, load::MAX_FILE_BYTES).map_err(|why| {
        format!(
            "the index of baked tables, {}, cannot be read: {why}\n\
             help: restore the file, or delete it and run `tune init` in this package",
            site.shown(&index_path)
        )
    })?;
    baked.paths.push(index_path.clone());
    let index = Index::parse(&index).map_err(|error| in_file(site, &index_path, &error))?;
    let Some(file) = index.file(kernel) else {
        if let Some(lost) = lost_table(site, kernel) {
            baked.warnings.push(Warning::Unused(format!(
                "kernel `{kernel}` is not baked: {} is there, but {INDEX_FILE} does not list it\n\
                 help: run `tune init`, which lists every table of the folder",
                site.shown(&lost)
            )));
            baked.paths.push(lost);
            return Ok(baked);
        }
        baked.warnings.push(Warning::Untuned(format!(
            "kernel `{kernel}` is not baked: the program launches its baseline\n\
             help: run `tune run -k {kernel}` on the GPU it is for; for this machine's cpu, `tune run -k {kernel} --device cpu --write`"
        )));
        return Ok(baked);
    };
    let path = site.tuned.join(file);
    let text = load::read_bytes(&path, load::MAX_FILE_BYTES).map_err(|why| {
        format!(
            "the index lists {}, which cannot be read: {why}\n\
             help: restore the file, or run `tune bake -k {kernel}` on the machine that tuned it (with `--write` for a cpu)",
            site.shown(&path)
        )
    })?;
    baked.paths.push(path.clone());
    let table =
        BakedTable::parse_for(&text, kernel).map_err(|error| in_file(site, &path, &error))?;
    baked
        .sort_rows(site, spec, source, &table)
        .map_err(|error| in_file(site, &path, &error))?;
    Ok(baked)
}

/// The kernel's table where the index does not list it, as after a merge that lost the line.
fn lost_table(site: &Site, kernel: &str) -> Option<PathBuf> {
    let path = site.tuned.join(format!("{kernel}.toml"));
    path.is_file().then_some(path)
}

fn in_file(site: &Site, path: &std::path::Path, error: &dyn std::fmt::Display) -> String {
    format!("{}: {error}", site.shown(path))
}

impl Baked {
    /// Leaves out the warnings of a kernel that is meant to be untuned.
    pub(crate) fn allow_untuned(&mut self) {
        self.warnings
            .retain(|warning| !matches!(warning, Warning::Untuned(_)));
    }

    /// Keeps the fresh rows and counts the stale ones.
    fn sort_rows(
        &mut self,
        site: &Site,
        spec: &KernelSpec,
        source: &SourceText,
        table: &BakedTable,
    ) -> Result<(), String> {
        let mut stale = Vec::new();
        for row in table.rows() {
            let now = Hashes::now(spec, source.hash(), row.device.backend);
            match row.freshness(&now) {
                Freshness::Stale { which, baked, now } => stale.push((row, which, baked, now)),
                Freshness::Fresh => {
                    let resolved = row.resolve(spec).map_err(|error| error.to_string())?;
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
            self.warnings.push(Warning::Unused(format!(
                "{count} stale and not used; the first, of `{}` for {}, was baked from another {which}: \
                 {baked} then, {now} now\nhelp: {}",
                row.device,
                row.problem,
                row.renewal(kernel)
            )));
        }
        Ok(())
    }

    /// The image next to the table, if the row has one and it is the one that was baked.
    fn image(&mut self, site: &Site, row: &Row) -> Result<Option<PathBuf>, String> {
        let Some(Image { file, target, hash }) = &row.image else {
            return Ok(None);
        };
        let path = site.tuned.join(file);
        let help = "help: run `tune bake --images`, or restore the file";
        let shown = site.shown(&path);
        if Image::target_of(&row.device).as_ref() != Some(target) {
            let device = &row.device;
            return Err(format!(
                "the image {shown} is for {target}, which is not what images for `{device}` are for\n{help}"
            ));
        }
        let bytes = load::read_bytes(&path, MAX_IMAGE_BYTES)
            .map_err(|why| format!("the image {shown} cannot be read: {why}\n{help}"))?;
        let found = Image::hash_of(&bytes);
        if found != *hash {
            return Err(format!(
                "the image {shown} has hash {found}, its row says {hash}\n{help}"
            ));
        }
        self.paths.push(path.clone());
        Ok(Some(path))
    }
}

/// The symbol in the row must be that of the entry it says.
fn check_symbol(
    spec: &KernelSpec,
    source: &SourceText,
    row: &Row,
    resolved: &ResolvedRow,
) -> Result<(), String> {
    let target = Target::from(row.device.backend);
    let (config, problem) = (&resolved.config, &resolved.problem);
    let hash = symbol_hash(source.hash(), spec, &row.entry, config, problem, target)
        .map_err(|error| error.to_string())?;
    let symbol = Symbol::release(&row.entry, hash);
    if symbol.as_str() == row.symbol {
        return Ok(());
    }
    Err(format!(
        "row of `{}` for {}: its symbol is `{}`, but its config makes `{symbol}`\nhelp: {}",
        row.device,
        row.problem,
        row.symbol,
        row.renewal(&spec.name)
    ))
}
