//! A kernel of a project: what was declared, and its source.

use std::path::PathBuf;

use kiln_spec::KernelSpec;
use kiln_spec::baked::Evidence;
use kiln_spec::source::{SourceScan, SourceText};

/// A declared kernel and its source.
#[derive(Clone, Debug)]
pub struct TunedKernel {
    /// What was declared.
    pub spec: KernelSpec,
    /// The expanded source.
    pub source: SourceText,
    /// What is in the source.
    pub scan: SourceScan,
    /// The Rust file that declares it.
    pub file: PathBuf,
    /// The package that declares it.
    pub package: String,
    /// The folder of the package's tables.
    pub tuned: PathBuf,
    /// Evidence beside `proven` that the program accepts in a row.
    pub accepts: Vec<Evidence>,
}
