//! The arguments of the commands that read or write files of other tuners: `replay` and `export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::scope::PackageArgs;

/// The arguments of `tune replay`.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// A recorded space: a cache file of Kernel Tuner or a T4 results file, `.json` or `.json.gz`
    #[arg(long = "space", value_name = "FILE", required = true, num_args = 1..)]
    pub spaces: Vec<PathBuf>,
    /// Strategies to replay, as `tune run --help` lists them, separated by commas, or `all`
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
    /// Range of seeds, with one search per seed
    #[arg(long, value_name = "FIRST..LAST", default_value = "1..50")]
    pub seeds: String,
    /// Number of configs that a strategy proposes at a time
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    pub batch: usize,
    /// Recorded spaces of the same kernel on other devices, to start from
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub transfer_from: Vec<PathBuf>,
    /// Use only the configs that a search of COUNT trials on each source would try, not the full recording
    #[arg(long, value_name = "COUNT")]
    pub transfer_trials: Option<usize>,
    /// Stop a search when the expected improvement is below what measuring can prove, as `tune run` does
    #[arg(long)]
    pub stop: bool,
    /// Search every space, starting from the results of every other space of the same kernel; compare each search with
    /// one from scratch, with trying the other space's best configs in order, and with starting from misleading results
    #[arg(long, conflicts_with_all = ["strategy", "transfer_from"])]
    pub transfer_all_pairs: bool,
    /// Change a constant of the model-based search, for a study
    #[arg(long = "set", value_name = "NAME=NUMBER", value_delimiter = ',')]
    pub set: Vec<String>,
    /// File to write the curves to [default: none]
    #[arg(long, value_name = "FILE")]
    pub curves: Option<PathBuf>,
    /// Threads [default: all cores]
    #[arg(long, value_name = "COUNT")]
    pub jobs: Option<usize>,
    /// Bake the best config found as a row with evidence `replayed`, for the recorded device; needs one space, `-k` and
    /// --target
    #[arg(long, requires = "target", conflicts_with = "transfer_all_pairs")]
    pub bake: bool,
    /// With --bake: the architecture of the recorded device, such as sm_86
    #[arg(long, value_name = "ARCH", requires = "bake")]
    pub target: Option<String>,
    /// With --bake: only for this problem, as `tune list` prints it [default: every declared problem]
    #[arg(long, value_name = "SIZES", requires = "bake")]
    pub problem: Option<String>,
    /// With --bake: the kernel.
    #[command(flatten)]
    pub package: PackageArgs,
}

/// The arguments of `tune export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The package; `-k` names the kernel.
    #[command(flatten)]
    pub package: PackageArgs,
    /// The format
    #[arg(long, value_name = "FORMAT")]
    pub format: ExportFormat,
    /// File to write to [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The problem, as `tune list` prints it [default: the first declared]
    #[arg(long, value_name = "SIZES")]
    pub problem: Option<String>,
    /// Results of devices with this prefix: `cuda/sm_86/NVIDIA RTX A4000`, `cpu`; for t1: the installed device whose
    /// limits apply
    #[arg(long, short, value_name = "DEVICE")]
    pub device: Option<String>,
    /// For t1: the GPU whose limits apply, such as sm_89 or gfx1151; it need not be installed
    #[arg(long, value_name = "ARCH", conflicts_with = "device")]
    pub target: Option<String>,
    /// Results under the key with this prefix
    #[arg(long, value_name = "HASH")]
    pub key: Option<String>,
    /// Convert this recorded space instead of exporting a kernel's trials
    #[arg(long, value_name = "FILE", conflicts_with_all = ["kernels", "problem", "device", "target", "key"])]
    pub space: Option<PathBuf>,
}

/// The file formats that `tune export` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// A search space, with its constraints in Python.
    T1,
    /// Results, with the reasons why configs failed.
    T4,
    /// Results as a cache file of Kernel Tuner.
    KernelTuner,
}

impl ExportFormat {
    /// The name of the format on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ExportFormat::T1 => "t1",
            ExportFormat::T4 => "t4",
            ExportFormat::KernelTuner => "kernel-tuner",
        }
    }
}
