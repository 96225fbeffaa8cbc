//! A kernel of a project, with its declaration and its source.

use std::fmt;
use std::path::PathBuf;

use kiln_spec::baked::Evidence;
use kiln_spec::source::{SourceScan, SourceText};
use kiln_spec::{KernelSpec, Problem};

use super::error::ProjectError;

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
    pub tuned: PathBuf,
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
}

/// A kernel that is compiled only with features that are not enabled. Nothing but these fields is kept of its
/// declaration.
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
