//! Checks that the tables of a project are up to date. The check fails if a build with the same `KILN_STRICT` would
//! fail.

use std::collections::BTreeSet;
use std::path::PathBuf;

use kiln::Kernel;
use kiln_cache::Cache;
use kiln_spec::KernelSpec;
use kiln_spec::baked::{
    self, BakedTable, Freshness, INDEX_FILE, Image, Row, STRICT_VARIABLE, StrictError,
};
use serde::Serialize;

use crate::error::Failure;
use crate::tables::bake;
use crate::tables::images;
use crate::tables::row_unit::{RowUnitError, row_unit};
use crate::task::Conditions;
use kiln_project::{Project, TunedKernel};

/// A fault of a table, or a warning.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    path: PathBuf,
    kernel: String,
    problem: String,
    what: String,
    fails: bool,
    /// Whether the finding is about a stale row.
    #[serde(skip)]
    stale: bool,
    /// The remedy: the text of a `help:` line without the prefix.
    #[serde(skip)]
    help: Option<String>,
}

/// The results of checking the tables of a project.
#[derive(Clone, Debug, Default)]
pub struct CheckedTables {
    /// The faults and warnings.
    pub findings: Vec<Finding>,
    rows: usize,
    not_baked: usize,
}

impl CheckedTables {
    /// Whether a finding makes the check fail.
    pub fn any_failed(&self) -> bool {
        self.findings.iter().any(|finding| finding.fails)
    }

    /// Adds the findings of [`device`], which are proven rows that are not baked. The remedies of earlier findings
    /// about the same problems are removed, because they say to tune again, but baking is enough.
    pub fn add_device(&mut self, found: Vec<Finding>) {
        for finding in &mut self.findings {
            if found.iter().any(|new| new.is_about_that_of(finding)) {
                finding.help = None;
            }
        }
        self.findings.extend(found);
    }

    /// One line per finding, followed by the totals and the help.
    pub fn to_text(&self, project: &Project) -> String {
        let mut text: String = self.findings.iter().map(Finding::to_text).collect();
        let not_baked = match self.not_baked {
            0 => String::new(),
            count => format!(" ({count} not baked)"),
        };
        let hidden = match project.hidden.len() {
            0 => String::new(),
            count => format!(", {count} behind features that are off"),
        };
        text += &format!(
            "{} kernels{not_baked}{hidden}, {} baked rows: {}\n",
            project.kernels.len(),
            self.rows,
            verdict(&self.findings)
        );
        text
    }
}

impl Finding {
    /// The finding with a remedy, which is the text of a `help:` line without the prefix.
    #[must_use]
    pub fn with_help(self, help: impl Into<String>) -> Finding {
        Finding {
            help: Some(help.into()),
            ..self
        }
    }

    /// Whether another finding is about the same kernel and problem.
    fn is_about_that_of(&self, other: &Finding) -> bool {
        self.kernel == other.kernel && self.problem == other.problem
    }

    /// Creates a finding that makes the check fail. `what` describes the fault of a file of the kernel.
    pub fn of_kernel(kernel: &str, path: PathBuf, what: impl Into<String>) -> Finding {
        Finding {
            path,
            kernel: kernel.to_owned(),
            problem: String::new(),
            what: what.into(),
            fails: true,
            stale: false,
            help: None,
        }
    }

    /// The file and its fault, and the remedy.
    pub fn what(&self) -> String {
        let help = self.help.as_ref();
        let help = help.map_or_else(String::new, |help| format!(": {help}"));
        format!("{}: {}{help}", self.path.display(), self.what)
    }

    fn to_text(&self) -> String {
        let kind = if self.fails { "error" } else { "warning" };
        let whose = [self.kernel.as_str(), &self.problem].join(" ");
        format!(
            "{kind}: {}: {}: {}\n",
            self.path.display(),
            whose.trim_end(),
            self.what
        )
    }
}

/// Checks the committed tables of every kernel. With `every_image`, a row without an image is a fault.
///
/// # Errors
/// If a table or folder cannot be read or parsed.
pub fn tables(project: &Project, every_image: bool) -> Result<CheckedTables, Failure> {
    let mut checked = CheckedTables::default();
    let strict = is_strict()?;
    for kernel in &project.kernels {
        let count = check_kernel(kernel, (every_image, strict), &mut checked.findings)?;
        checked.rows += count;
        checked.not_baked += usize::from(count == 0);
    }
    check_strangers(project, &mut checked.findings)?;
    Ok(checked)
}

/// The remedy for a file that is lost or damaged.
const RESTORE: &str =
    "restore the file, or run `tune bake` on that device (with `--write` for a cpu)";

/// The faults of a kernel's table, other than stale rows, that make a build fail or ignore the table.
///
/// # Errors
/// If the table or the index cannot be read or parsed.
pub fn kernel_faults(kernel: &TunedKernel) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    check_kernel(kernel, (false, false), &mut findings)?;
    if let Some(index) = kernel.tuned.index()? {
        let mut unlisted = kernel.tuned.unlisted(&index)?.into_iter();
        let own = unlisted.find(|(name, _)| *name == kernel.spec.name);
        findings.extend(own.map(|(name, path)| not_listed(&name, path)));
    }
    findings.retain(|finding| finding.fails && !finding.stale);
    Ok(findings)
}

/// The finding that the index does not list a table.
fn not_listed(kernel: &str, path: PathBuf) -> Finding {
    let what = format!("{INDEX_FILE} does not list it: builds do not use it");
    Finding::of_kernel(kernel, path, what)
        .with_help("run `tune init`, which lists every table of the folder")
}

/// Whether builds are strict. If they are, a kernel without a row makes a build fail, so it makes the check fail too.
///
/// # Errors
/// If `KILN_STRICT` has an unknown value.
fn is_strict() -> Result<bool, StrictError> {
    let value = std::env::var_os(STRICT_VARIABLE);
    baked::is_strict(
        value
            .map(|value| value.to_string_lossy().into_owned())
            .as_deref(),
    )
}

/// The verdict as text: whether all tables are up to date. If they are not, the remedies follow, each once, in the
/// order of the findings.
fn verdict(findings: &[Finding]) -> String {
    if !findings.iter().any(|finding| finding.fails) {
        return "up to date".into();
    }
    let mut verdict = "not up to date".to_owned();
    let mut said = BTreeSet::new();
    let failed = findings.iter().filter(|finding| finding.fails);
    for help in failed.filter_map(|finding| finding.help.as_ref()) {
        if said.insert(help) {
            verdict += &format!("\nhelp: {help}");
        }
    }
    if said.is_empty() {
        verdict += &format!("\nhelp: {RESTORE}");
    }
    verdict
}

/// Checks that every row of a kernel's committed table is fresh and valid. Returns the number of rows.
fn check_kernel(
    kernel: &TunedKernel,
    (every_image, strict): (bool, bool),
    findings: &mut Vec<Finding>,
) -> Result<usize, Failure> {
    let name = &kernel.spec.name;
    let Some((path, table)) = listed_table(kernel, strict, findings)? else {
        return Ok(0);
    };
    if table.kernel() != name {
        let what = format!("it belongs to the kernel `{}`", table.kernel());
        findings.push(Finding {
            help: Some(format!(
                "run `tune run -k {name}`, which writes the table under the new name"
            )),
            ..Finding::of_kernel(name, path.clone(), what)
        });
    }
    if table.rows().next().is_none() && !kernel.may_be_untuned {
        findings.push(not_baked(
            &kernel.spec,
            path.clone(),
            "it has no rows",
            strict,
        ));
    }
    for row in table.rows() {
        let what = fault(kernel, row);
        findings.extend(what.map(|what| Finding {
            problem: row.problem.clone(),
            stale: !kernel.is_fresh(row),
            help: Some(row.renewal(name)),
            ..Finding::of_kernel(name, path.clone(), what)
        }));
    }
    for image in kernel.tuned.unnamed_images(&table)? {
        findings.push(Finding {
            fails: false,
            ..Finding::of_kernel(name, image, "no row names this image")
        });
    }
    for row in table.rows() {
        let what = image_fault(kernel, row, every_image);
        findings.extend(what.map(|what| Finding {
            problem: row.problem.clone(),
            help: Some("run `tune bake --images`, which writes images anew".into()),
            ..Finding::of_kernel(name, path.clone(), what)
        }));
    }
    Ok(table.rows().count())
}

/// A kernel's committed table and its path. If the index or the table is missing, or the kernel is not baked, adds a
/// finding and returns `None`.
fn listed_table(
    kernel: &TunedKernel,
    strict: bool,
    findings: &mut Vec<Finding>,
) -> Result<Option<(PathBuf, BakedTable)>, Failure> {
    let name = &kernel.spec.name;
    let path = kernel.tuned.table_path(name);
    let is_there = path.is_file();
    let Some(index) = kernel.tuned.index()? else {
        // A kernel that may be untuned needs no index, unless it has a table.
        if kernel.may_be_untuned && !is_there {
            return Ok(None);
        }
        let what = "there is no index";
        findings.push(Finding {
            help: Some("run `tune init`".into()),
            ..Finding::of_kernel(name, kernel.tuned.path().to_owned(), what)
        });
        return Ok(None);
    };
    if index.file(name).is_none() {
        // The check of the folder finds a table that is missing from the index.
        if !kernel.may_be_untuned && !is_there {
            let path = kernel.tuned.index_path();
            findings.push(not_baked(&kernel.spec, path, "it is not baked", strict));
        }
        return Ok(None);
    }
    let table = kernel.tuned.listed_table(name)?;
    if table.is_none() {
        let what = "the index lists it, but it is not there";
        findings.push(Finding {
            help: Some(RESTORE.into()),
            ..Finding::of_kernel(name, path.clone(), what)
        });
    }
    Ok(table.map(|table| (path, table)))
}

/// The finding that a kernel has no row. It makes the check fail if builds are strict.
fn not_baked(spec: &KernelSpec, path: PathBuf, what: &str, strict: bool) -> Finding {
    let what = format!("{what}: builds launch its baseline, and fail with KILN_STRICT=1");
    Finding {
        fails: strict,
        help: Some(spec.how_to_tune()),
        ..Finding::of_kernel(&spec.name, path, what)
    }
}

/// The fault of a row's image; `None` if the image has none.
fn image_fault(kernel: &TunedKernel, row: &Row, every_image: bool) -> Option<String> {
    match &row.image {
        Some(_) => images::fault(kernel.tuned.path(), row),
        None if every_image && Image::target_of(&row.device).is_some() => Some(format!(
            "row of `{}` has no image; run `tune bake --images`",
            row.device
        )),
        None => None,
    }
}

fn fault(kernel: &TunedKernel, row: &Row) -> Option<String> {
    match kernel.freshness(row) {
        Freshness::Stale { which, baked, now } => Some(format!(
            "row of `{}` is stale: the hash of its {which} was {baked} when it was baked, and is {now} now",
            row.device
        )),
        Freshness::Fresh => {
            let error = row_unit(kernel, row).err()?;
            Some(what_differs(row, error))
        }
    }
}

/// How the current source differs from the source that was baked.
fn what_differs(row: &Row, error: RowUnitError) -> String {
    let device = &row.device;
    match error {
        RowUnitError::Row(error) => error.to_string(),
        RowUnitError::Source(error) => format!("row of `{device}`: {error}"),
        RowUnitError::OtherSymbol { baked, given } => {
            format!("row of `{device}`: `symbol` is `{baked}`, but the source gives `{given}`")
        }
    }
}

/// Checks for tables that do not belong to a kernel, and for tables that the index does not list. The former are
/// warnings; the latter make the check fail.
fn check_strangers(project: &Project, findings: &mut Vec<Finding>) -> Result<(), Failure> {
    for folder in project.table_folders() {
        let Some(index) = folder.index()? else {
            continue;
        };
        for (name, file) in index.iter() {
            let here = |kernel: &TunedKernel| kernel.tuned == *folder && kernel.spec.name == name;
            if !project.kernels.iter().any(here) {
                let what = "no kernel of that name is declared".to_owned();
                let (path, kernel) = (folder.path().join(file), name.to_owned());
                findings.push(Finding {
                    fails: false,
                    ..Finding::of_kernel(&kernel, path, what)
                });
            }
        }
        for (kernel, path) in folder.unlisted(&index)? {
            findings.push(not_listed(&kernel, path));
        }
    }
    Ok(())
}

/// Compares the rows that a bake from the cache would write for a device with the committed tables. Returns one finding
/// for each row that is missing from them or differs.
///
/// # Errors
/// If the cache or a table cannot be read.
pub fn device(
    project: &Project,
    conditions: &Conditions<'_>,
    cache: &Cache,
    catalogue: &[&'static Kernel],
) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    for kernel in &project.kernels {
        let path = kernel.tuned.table_path(&kernel.spec.name);
        let table = kernel.tuned.table(&kernel.spec.name)?;
        let baked: Vec<Row> = table
            .iter()
            .flat_map(|table| table.device_rows(&conditions.info.key).cloned())
            .collect();
        for row in bake::rows(kernel, conditions, cache, catalogue)? {
            // The image of a row does not affect its proof, so it is not compared.
            let same = |old: &Row| {
                Row {
                    image: None,
                    ..old.clone()
                } == row
            };
            if !baked.iter().any(same) {
                let what = format!("`{}` is proven, but not baked", row.config);
                let finding = Finding::of_kernel(&kernel.spec.name, path.clone(), what);
                findings.push(Finding {
                    problem: row.problem.clone(),
                    ..finding.with_help("run `tune bake` (with `--write` for a cpu)")
                });
            }
        }
    }
    Ok(findings)
}
