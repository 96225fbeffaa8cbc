//! The packages and kernels that a command line selects.

use std::path::PathBuf;

/// The packages and kernels that a command line selects.
#[derive(Clone, Debug, Default)]
pub struct PackageSelection {
    /// Cargo.toml of the package or workspace; `None` for the one of the current folder.
    pub manifest_path: Option<PathBuf>,
    /// A file with the output of `cargo metadata`, for machines without cargo.
    pub cargo_metadata: Option<PathBuf>,
    /// The package of the workspace; `None` for all of them.
    pub package: Option<String>,
    /// The kernels; all of them if none is named.
    pub kernels: Vec<String>,
    /// Cargo features that are enabled when sources are read.
    pub features: Vec<String>,
}
