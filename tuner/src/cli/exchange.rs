//! The words of commands about files of other tuners: `replay`, `export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::scope::PackageArgs;

/// `tune replay`
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// A recorded space: a cache file of Kernel Tuner or a T4 results file, `.json` or `.json.gz`
    #[arg(long = "space", value_name = "FILE", required = true, num_args = 1..)]
    pub spaces: Vec<PathBuf>,
    /// Strategies to replay, as `tune run --help` lists them, with commas between, or `all`
    #[arg(
        long,
        value_name = "NAMES",
        default_value = "auto",
        value_delimiter = ','
    )]
    pub strategy: Vec<String>,
    /// Configs to try in each search, failed ones included
    #[arg(long, value_name = "COUNT", default_value_t = 200)]
    pub budget: usize,
    /// Seeds, from the first to the last: a search for each
    #[arg(long, value_name = "FIRST..LAST", default_value = "1..50")]
    pub seeds: String,
    /// Configs asked for at a time
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    pub batch: usize,
    /// Recorded spaces of the same kernel on other devices, to start from
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub transfer_from: Vec<PathBuf>,
    /// Of each source only the configs that a search of so many tries, not all that was recorded
    #[arg(long, value_name = "COUNT")]
    pub transfer_trials: Option<usize>,
    /// End a search when the improvement to be expected is below what measuring can prove, as `tune run` does
    #[arg(long)]
    pub stop: bool,
    /// Search every space with the results of every other of the same kernel, and compare with searching from
    /// nothing, with the other's best configs in order, and with misleading results
    #[arg(long, conflicts_with_all = ["strategy", "transfer_from"])]
    pub transfer_all_pairs: bool,
    /// Change a constant of the model-based search, to study it
    #[arg(long = "set", value_name = "NAME=NUMBER", value_delimiter = ',')]
    pub set: Vec<String>,
    /// Where to write the curves [default: nowhere]
    #[arg(long, value_name = "FILE")]
    pub curves: Option<PathBuf>,
    /// Threads [default: all cores]
    #[arg(long, value_name = "COUNT")]
    pub jobs: Option<usize>,
    /// Bake the best config that was found as a row of evidence `replayed`, for the device that was recorded; needs one
    /// space, `-k` and --target
    #[arg(long, requires = "target", conflicts_with = "transfer_all_pairs")]
    pub bake: bool,
    /// With --bake: the architecture of the recorded device, such as sm_86
    #[arg(long, value_name = "ARCH", requires = "bake")]
    pub target: Option<String>,
    /// With --bake: only for this problem, as `tune list` prints it [default: every one declared]
    #[arg(long, value_name = "SIZES", requires = "bake")]
    pub problem: Option<String>,
    /// With --bake: which kernel.
    #[command(flatten)]
    pub package: PackageArgs,
}

/// `tune export`
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Which package; `-k` names the kernel.
    #[command(flatten)]
    pub package: PackageArgs,
    /// What to write
    #[arg(long, value_name = "FORMAT")]
    pub format: ExportFormat,
    /// Where to write it [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The problem, as `tune list` prints it [default: the first declared]
    #[arg(long, value_name = "SIZES")]
    pub problem: Option<String>,
    /// Results of this device, or of those that begin so: `cuda/sm_86/NVIDIA RTX A4000`, `cpu`; for t1: the device here
    /// whose limits count
    #[arg(long, short, value_name = "DEVICE")]
    pub device: Option<String>,
    /// For t1: the GPU whose limits count, such as sm_89 or gfx1151; it need not be here
    #[arg(long, value_name = "ARCH", conflicts_with = "device")]
    pub target: Option<String>,
    /// Results under this key, or under the one that begins so
    #[arg(long, value_name = "HASH")]
    pub key: Option<String>,
    /// Not a kernel's trials but this recorded space, from one format to another
    #[arg(long, value_name = "FILE", conflicts_with_all = ["kernels", "problem", "device", "target", "key"])]
    pub space: Option<PathBuf>,
}

/// A format of other tuners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// A search space, with its constraints in Python.
    T1,
    /// Results, with why configs failed.
    T4,
    /// Results as a cache file of Kernel Tuner.
    KernelTuner,
}

impl ExportFormat {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ExportFormat::T1 => "t1",
            ExportFormat::T4 => "t4",
            ExportFormat::KernelTuner => "kernel-tuner",
        }
    }
}
