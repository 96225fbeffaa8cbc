//! A kernel of a project, with its declaration and its source.

use std::fmt;
use std::path::PathBuf;

use kiln_spec::baked::{Evidence, Freshness, Hashes, Row};
use kiln_spec::source::{SourceScan, SourceText};
use kiln_spec::{Backend, DeviceKey, KernelSpec, Problem};

use super::error::ProjectError;
use super::tables::{TableFileError, TableFolder};

/// A kernel that a package declares, with its source.
#[derive(Clone, Debug)]
pub struct TunedKernel {
    /// The declaration of the kernel.
    pub spec: KernelSpec,
    /// The expanded source of the kernel.
    pub source: SourceText,
    /// The names that the source declares, such as its entries.
    pub scan: SourceScan,
    /// The Rust file that declares the kernel.
    pub file: PathBuf,
    /// The path of the module that declares the kernel, starting with its target: `mykernels::image`.
    pub module: String,
    /// Whether the package's library declares the kernel, so that other programs can link it.
    pub in_library: bool,
    /// The kernel's name in lists. It contains the package if the selected packages have several kernels of this
    /// name.
    pub label: String,
    /// The package that declares the kernel.
    pub package: String,
    /// The folder of the package's baked tables.
    pub tuned: TableFolder,
    /// The kinds of evidence that the program accepts in a row, in addition to `proven`.
    pub accepts: Vec<Evidence>,
    /// Whether the kernel may have no rows (`untuned = allow`).
    pub may_be_untuned: bool,
}

impl TunedKernel {
    /// Parses a problem. Without a text, returns the first problem that the kernel declares.
    ///
    /// # Errors
    /// If the text is not a problem of the kernel.
    pub fn problem(&self, text: Option<&str>) -> Result<Problem, ProjectError> {
        let Some(text) = text else {
            return Ok(self.spec.problems[0].clone());
        };
        let problem = self.spec.parse_problem(text);
        problem.map_err(|error| ProjectError::Problem {
            text: text.to_owned(),
            error,
        })
    }

    /// Returns the hashes that a row gets if it is baked now for a device of this backend.
    pub fn hashes(&self, backend: Backend) -> Hashes {
        Hashes::now(&self.spec, self.source.hash(), backend)
    }

    /// Whether the kernel has changed since a row was baked.
    pub fn freshness(&self, row: &Row) -> Freshness {
        row.freshness(&self.hashes(row.device.backend))
    }

    /// The name of the part that changed since a row was baked; `None` if the row is fresh.
    pub fn stale_part(&self, row: &Row) -> Option<&'static str> {
        match self.freshness(row) {
            Freshness::Stale { which, .. } => Some(which),
            Freshness::Fresh => None,
        }
    }

    /// Whether the kernel has not changed since a row was baked.
    pub fn is_fresh(&self, row: &Row) -> bool {
        self.freshness(row) == Freshness::Fresh
    }

    /// All rows of the kernel's committed table.
    ///
    /// # Errors
    /// If a table cannot be read or parsed.
    pub fn committed_rows(&self) -> Result<Vec<Row>, TableFileError> {
        self.tuned.rows(&self.spec.name)
    }

    /// The rows for a device in the kernel's committed table.
    ///
    /// # Errors
    /// If a table cannot be read or parsed.
    pub fn rows_of(&self, device: &DeviceKey) -> Result<Vec<Row>, TableFileError> {
        let mut rows = self.committed_rows()?;
        rows.retain(|row| row.device == *device);
        Ok(rows)
    }
}

/// A kernel that is compiled only with features that are not enabled. Of its declaration, only these fields are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiddenKernel {
    /// The name of the kernel.
    pub name: String,
    /// The package that declares the kernel.
    pub package: String,
    /// The Rust file that declares the kernel.
    pub file: PathBuf,
    /// A single feature that enables the kernel; `None` if several features are needed.
    pub feature: Option<String>,
}

impl HiddenKernel {
    /// The value for `--features` that enables the kernel, or a placeholder if several features are needed.
    pub fn features(&self) -> &str {
        self.feature.as_deref().unwrap_or("FEATURES")
    }
}

impl fmt::Display for HiddenKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, file) = (&self.name, self.file.display());
        match &self.feature {
            Some(feature) => write!(f, "`{name}` is behind the feature `{feature}` ({file})"),
            None => write!(f, "`{name}` is behind features that are off ({file})"),
        }
    }
}
