//! The arguments of the commands about baked tables: `init`, `bake` and `smoke`.

use clap::{ArgGroup, Args, ValueEnum};

use super::scope::{DeviceArgs, LinesArgs, OutputArgs, PackageArgs, RegimeArgs};

/// The arguments of `tune init`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// The package and its kernels.
    #[command(flatten)]
    pub package: PackageArgs,
    /// Write a `tune` for this package into its folder `tune/`; it compares candidates with the package's references
    #[arg(long)]
    pub own: bool,
}

/// The arguments of `tune bake`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("of_a_target").args(["images", "untuned"]))]
pub struct BakeArgs {
    /// The package and its kernels.
    #[command(flatten)]
    pub package: PackageArgs,
    /// The device.
    #[command(flatten)]
    pub device: DeviceArgs,
    /// The regime: cold or hot caches.
    #[command(flatten)]
    pub regime: RegimeArgs,
    /// The output format.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Write nothing; exit with 1 if a table is lost, stale or malformed, and with KILN_STRICT=1 also if a kernel has no
    /// table, as a build in the same environment would
    #[arg(long)]
    pub check: bool,
    /// With --check: every proven row must be backed by signed statements of this many devices, as `tune fleet merge`
    /// writes them [default: 2]
    #[arg(long, value_name = "DEVICES", num_args = 0..=1, default_missing_value = "2", requires = "check")]
    pub proofs: Option<u32>,
    /// Write rows for this machine's cpu into the package's `tuned/` too
    #[arg(long)]
    pub write: bool,
    /// Compile an image for every baked row, for programs on machines without a compiler; with --check: every row must
    /// have one
    #[arg(long, conflicts_with_all = ["write", "device"])]
    pub images: bool,
    /// With --images: only for these targets; with --untuned: the GPUs to predict for: `sm_89,gfx1151`, `x86-64-v3`
    #[arg(long = "target", value_name = "TARGET", num_args = 1.., value_delimiter = ',', requires = "of_a_target", conflicts_with = "check")]
    pub targets: Vec<String>,
    /// Bake predictions for a GPU that was never measured, as rows with this evidence
    #[arg(long, value_name = "EVIDENCE", requires = "targets", conflicts_with_all = ["check", "device", "write"])]
    pub untuned: Option<Untuned>,
}

/// The evidence of rows for a device that was never measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Untuned {
    /// The choice of an analytic model, if the model ranks configs better than random order does.
    Predicted,
}

/// The arguments of `tune smoke`.
#[derive(Debug, Args)]
pub struct SmokeArgs {
    /// The package and its kernels.
    #[command(flatten)]
    pub package: PackageArgs,
    /// The device.
    #[command(flatten)]
    pub device: DeviceArgs,
    /// Only these problems, as `tune list` prints them: `n=100`, several as `n=100,n=200`, or the option repeated
    #[arg(long = "problem", value_name = "SIZES")]
    pub problems: Vec<String>,
    /// The output format.
    #[command(flatten)]
    pub output: OutputArgs,
    /// The output format while the command runs.
    #[command(flatten)]
    pub lines: LinesArgs,
}
