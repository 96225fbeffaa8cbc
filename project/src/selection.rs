//! The packages and kernels that a command line selects.

use std::path::PathBuf;

/// The packages and kernels that a command line selects.
#[derive(Clone, Debug, Default)]
pub struct PackageSelection {
    /// The path of the `Cargo.toml` of a package or workspace; `None` for the one in the current folder.
    pub manifest_path: Option<PathBuf>,
    /// A file with the output of `cargo metadata`, for machines without cargo.
    pub cargo_metadata: Option<PathBuf>,
    /// The name of a package in the workspace. `None` for all packages except those with
    /// `package.metadata.kiln.tune = false`.
    pub package: Option<String>,
    /// The names of kernels. An empty list selects all kernels.
    pub kernels: Vec<String>,
    /// The cargo features with which sources are read.
    pub features: Vec<String>,
}
