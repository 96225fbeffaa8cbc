//! The arguments of the commands that show kernels and their search spaces: `list`, `space` and `inspect`.

use std::path::PathBuf;

use clap::Args;

use super::scope::{DeviceArgs, OutputArgs, PackageArgs};

/// The arguments of `tune list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// The package and its kernels.
    #[command(flatten)]
    pub package: PackageArgs,
    /// The output format.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The arguments of `tune space`.
#[derive(Debug, Args)]
pub struct SpaceArgs {
    /// The package and its kernels.
    #[command(flatten)]
    pub package: PackageArgs,
    /// The device.
    #[command(flatten)]
    pub device: DeviceArgs,
    /// The output format.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Print every valid config too
    #[arg(long)]
    pub configs: bool,
    /// Describe the space that this file defines (a definition or a T1 file) instead of kernels
    #[arg(long, value_name = "FILE", conflicts_with = "configs")]
    pub definition: Option<PathBuf>,
    /// Print only the number of valid configs: one line per kernel and problem, a single number with --definition, JSON
    /// with --json
    #[arg(long, conflicts_with = "configs")]
    pub count: bool,
}

/// The arguments of `tune inspect`.
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// The package and its kernels.
    #[command(flatten)]
    pub package: PackageArgs,
    /// The output format.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Only these kernels; the name of a known GPU is used as a target instead
    #[arg(value_name = "KERNEL")]
    pub names: Vec<String>,
    /// Only these GPUs, such as sm_89,gfx1151, or the option repeated [default: all known ones]; `cpu` shows how the
    /// cpu device runs the configs, and why
    #[arg(long = "target", value_name = "ARCH", value_delimiter = ',')]
    pub targets: Vec<String>,
    /// For these problems, as `tune list` prints them [default: the first declared; with --first, all that the kernel
    /// declares for the device]
    #[arg(long = "problem", value_name = "SIZES")]
    pub problems: Vec<String>,
    /// This config, as `tune space --configs` prints it
    #[arg(long, value_name = "CONFIG")]
    pub config: Option<String>,
    /// The configs of all baked rows
    #[arg(long)]
    pub baked: bool,
    /// The baseline: the simplest correct version
    #[arg(long)]
    pub baseline: bool,
    /// Four configs from the corners of the search space
    #[arg(long)]
    pub all_corners: bool,
    /// The baseline, and the COUNT configs that `tune run` tries first with its default strategy and seed and these
    /// --jobs. A run on the GPU with the same compiler finds their code in the cache. They are chosen with the limits
    /// of the target table, and from the second batch on they are a guess, because a run's choice depends on its times
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub first: Option<u32>,
    /// Profile the configs on simulated GPUs: count instructions by class, sectors of global memory, bank conflicts and
    /// divergence, each with its worst source line. A profile contains no times
    #[arg(long)]
    pub profile: bool,
    /// Execute at most this many blocks of a launch, evenly spread over its grid
    #[arg(long, value_name = "COUNT", default_value_t = 8, requires = "profile")]
    pub blocks: u64,
    /// Compile threads [default: all cores]
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    pub jobs: Option<usize>,
}
