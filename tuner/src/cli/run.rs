//! The arguments of `tune run`.

use std::path::PathBuf;

use clap::Args;

use super::scope::{DeviceArgs, OutputArgs, PackageArgs, RegimeArgs, SearchArgs};

/// The arguments of `tune run`.
#[derive(Clone, Debug, Default, Args)]
pub struct RunArgs {
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
    /// The problems and the settings of the search.
    #[command(flatten)]
    pub search: SearchArgs,
    /// Total time: `90s`, `5m`, `1h`, or `full` for no limit [default: 5m]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub budget: Option<String>,
    /// Also start searches from these recordings of the same kernels on other devices: cache files of Kernel Tuner, or T4
    /// results files
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub transfer_from: Vec<PathBuf>,
    /// Start searches from scratch, ignoring results of other devices, problems or compilers
    #[arg(long, conflicts_with = "transfer_from")]
    pub no_transfer: bool,
    /// Measure even if other processes compute on the GPU [default: exit with 4]
    #[arg(long, conflicts_with = "compile_only")]
    pub allow_shared_gpu: bool,
    /// Write rows for this machine's cpu into the package's `tuned/` too
    #[arg(long)]
    pub write: bool,
    /// Compile threads [default: all cores]
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    pub jobs: Option<usize>,
    /// Print a line for every trial as it is stored, and all details of each problem at the end
    #[arg(long, short)]
    pub verbose: bool,
    /// Print the plan and exit
    #[arg(long)]
    pub dry_run: bool,
    /// With --compile-only: the GPUs to compile for, such as sm_89,gfx1151; they need not be installed
    #[arg(
        long = "target",
        value_name = "ARCH",
        num_args = 1..,
        value_delimiter = ',',
        requires = "compile_only",
        conflicts_with = "device"
    )]
    pub targets: Vec<String>,
    /// Find out which configs compile for a target and could be launched there, without launching anything
    #[arg(long, requires = "targets")]
    pub compile_only: bool,
}
