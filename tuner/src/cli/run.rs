//! The words of `tune run`.

use std::path::PathBuf;

use clap::Args;

use super::scope::{DeviceArgs, OutputArgs, PackageArgs, RegimeArgs};

/// `tune run`
#[derive(Clone, Debug, Default, Args)]
pub struct RunArgs {
    /// Which package.
    #[command(flatten)]
    pub package: PackageArgs,
    /// Which device.
    #[command(flatten)]
    pub device: DeviceArgs,
    /// How it is measured.
    #[command(flatten)]
    pub regime: RegimeArgs,
    /// How to print.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Only these problems, as `tune list` prints them: `n=100`, or several as `n=100,n=200` or with the option repeated
    #[arg(long = "problem", value_name = "SIZES")]
    pub problems: Vec<String>,
    /// Time for everything together: `90s`, `5m`, `1h`, or `full` for no limit [default: 5m]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub budget: Option<String>,
    /// Configs to try at most per kernel and problem [default: 200]
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    pub trials: Option<String>,
    /// How configs are chosen: auto, annealing, differential-evolution, exhaustive, genetic, latin-hypercube, local,
    /// local-search, particle-swarm, random, tabu
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub strategy: String,
    /// Start searches from these recordings of the same kernels on other devices too: cache files of Kernel Tuner, or T4
    /// results files
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub transfer_from: Vec<PathBuf>,
    /// Start searches from nothing, not from what was measured on other devices, for other problems or with other tools
    #[arg(long, conflicts_with = "transfer_from")]
    pub no_transfer: bool,
    /// Seed of everything random
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 1,
        allow_negative_numbers = true
    )]
    pub seed: u64,
    /// Measure although other processes compute on the GPU [otherwise: exit with 4]
    #[arg(long, conflicts_with = "compile_only")]
    pub allow_shared_gpu: bool,
    /// Write baked rows into the package's `tuned/` even for the cpu of this machine
    #[arg(long)]
    pub write: bool,
    /// Compile threads [default: all cores]
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    pub jobs: Option<usize>,
    /// Print a line for every trial as it is stored, and all about each problem at the end
    #[arg(long, short)]
    pub verbose: bool,
    /// Show what would be done and stop
    #[arg(long)]
    pub dry_run: bool,
    /// With --compile-only: the GPUs to compile for, such as sm_89,gfx1151; they need not be here
    #[arg(
        long = "target",
        value_name = "ARCH",
        num_args = 1..,
        value_delimiter = ',',
        requires = "compile_only",
        conflicts_with = "device"
    )]
    pub targets: Vec<String>,
    /// Launch nothing: find out which configs compile for a target and could be launched there
    #[arg(long, requires = "targets")]
    pub compile_only: bool,
}
