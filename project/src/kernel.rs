//! A kernel of a project: its declaration and its source.

use std::fmt;
use std::path::PathBuf;

use kiln_spec::baked::Evidence;
use kiln_spec::source::{SourceScan, SourceText};
use kiln_spec::{KernelSpec, Problem};

use super::error::ProjectError;

/// A declared kernel and its source.
#[derive(Clone, Debug)]
pub struct TunedKernel {
    /// Its declaration.
    pub spec: KernelSpec,
    /// The expanded source.
    pub source: SourceText,
    /// The entries and other declarations in the source.
    pub scan: SourceScan,
    /// The Rust file that declares it.
    pub file: PathBuf,
    /// The path of the module that declares it, starting with its target: `mykernels::image`.
    pub module: String,
    /// Whether the package's library declares it, so that other programs can link it.
    pub in_library: bool,
    /// Its name in listings: with the package if the selected packages have two kernels of this name.
    pub label: String,
    /// The package that declares it.
    pub package: String,
    /// The folder of the package's tables.
    pub tuned: PathBuf,
    /// Evidence that the program accepts in a row, in addition to `proven`.
    pub accepts: Vec<Evidence>,
}

impl TunedKernel {
    /// Parses a problem; without a text, returns the first declared one.
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

/// A kernel behind disabled features; only this much of it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiddenKernel {
    /// Its name.
    pub name: String,
    /// The package that declares it.
    pub package: String,
    /// The Rust file that declares it.
    pub file: PathBuf,
    /// A feature that alone enables it; `None` if it takes several.
    pub feature: Option<String>,
}

impl HiddenKernel {
    /// The value for `--features` that enables it.
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
