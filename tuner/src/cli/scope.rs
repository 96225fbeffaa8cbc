//! What several commands take: which package and device, what caches hold, how results are printed.

use std::path::PathBuf;

use clap::Args;

use crate::regime::Regime;

/// Which package.
#[derive(Clone, Debug, Default, Args)]
pub struct PackageArgs {
    /// Cargo.toml of the package or workspace whose kernels are meant
    #[arg(long, value_name = "PATH", global = true)]
    pub manifest_path: Option<PathBuf>,
    /// What `cargo metadata --no-deps --format-version 1` printed elsewhere, for machines without cargo; kept in the
    /// workspace's root
    #[arg(long, value_name = "FILE", conflicts_with = "manifest_path")]
    pub cargo_metadata: Option<PathBuf>,
    /// Only this package of the workspace
    #[arg(long, short, value_name = "NAME")]
    pub package: Option<String>,
    /// Only kernels of these names, with commas between or the option repeated
    #[arg(
        long = "kernel",
        short = 'k',
        value_name = "NAMES",
        value_delimiter = ','
    )]
    pub kernels: Vec<String>,
    /// Cargo features to take as enabled when reading sources
    #[arg(long, value_name = "FEATURES", value_delimiter = ',')]
    pub features: Vec<String>,
}

/// How results are printed.
#[derive(Clone, Debug, Default, Args)]
pub struct OutputArgs {
    /// Print one JSON object on standard output instead of tables
    #[arg(long)]
    pub json: bool,
}

/// How results are printed by commands that take long: also one by one.
#[derive(Clone, Debug, Default, Args)]
pub struct LinesArgs {
    /// Print one JSON object a line on standard output, each as soon as its result is known
    #[arg(long, conflicts_with = "json")]
    pub json_lines: bool,
}

/// Which device.
#[derive(Clone, Debug, Default, Args)]
pub struct DeviceArgs {
    /// The device: `cpu`, `cuda:0`, `hip:0`, … (default: the first GPU, else cpu)
    #[arg(long, short, value_name = "DEVICE")]
    pub device: Option<String>,
}

/// What caches hold when a timed launch begins.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct RegimeArgs {
    /// Whether timed launches find their data in the last-level cache; times of either are kept apart
    /// [default: cold on a GPU, hot on the cpu]
    #[arg(long, value_enum)]
    pub regime: Option<Regime>,
}
