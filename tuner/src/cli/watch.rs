//! The arguments of `tune bench` and `tune compare`.

use std::path::PathBuf;

use clap::Args;

use super::scope::{LinesArgs, OutputArgs, PackageArgs, RegimeArgs};

/// The kernels to time, the time budget, and the output format.
#[derive(Debug, Args)]
pub struct WatchArgs {
    /// The package and its kernels.
    #[command(flatten)]
    pub package: PackageArgs,
    /// Only these problems, as `tune list` prints them: `n=100`, several as `n=100,n=200`, or the option repeated
    #[arg(long = "problem", value_name = "SIZES")]
    pub problems: Vec<String>,
    /// The regime: cold or hot caches.
    #[command(flatten)]
    pub regime: RegimeArgs,
    /// Total time: `90s`, `5m`, `1h`, or `full` for no limit
    #[arg(
        long,
        value_name = "TIME",
        default_value = "10m",
        allow_hyphen_values = true
    )]
    pub budget: String,
    /// Seed of all random choices
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 1,
        allow_negative_numbers = true
    )]
    pub seed: u64,
    /// Measure even if other processes compute on the GPU [default: exit with 4]
    #[arg(long)]
    pub allow_shared_gpu: bool,
    /// The output format.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The arguments of `tune bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// The kernels and the time budget.
    #[command(flatten)]
    pub watch: WatchArgs,
    /// Devices separated by commas: `cpu`, `cuda:0`, `hip:0`, … [default: the first GPU, else cpu]
    #[arg(long = "device", short, value_name = "DEVICES", value_delimiter = ',')]
    pub devices: Vec<String>,
    /// Save the kernels themselves to this file, for `tune compare`; compressed if its name ends in `.gz`
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Time every kernel against this command, which computes the same (docs/peers.md); may be repeated
    #[arg(long = "peer", value_name = "COMMAND")]
    pub peers: Vec<String>,
    /// The output format while the command runs.
    #[command(flatten)]
    pub lines: LinesArgs,
}

/// The arguments of `tune compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// A file that `tune bench --save` wrote
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The kernels and the time budget.
    #[command(flatten)]
    pub watch: WatchArgs,
    /// Devices separated by commas [default: every device of a kind that the file has]
    #[arg(long = "device", short, value_name = "DEVICES", value_delimiter = ',')]
    pub devices: Vec<String>,
    /// Exit with 1 if a kernel is proven slower and the 95 % interval includes a slow-down of PERCENT (`5%`) or more; also
    /// the threshold for `same` [default: slower kernels do not fail; 5% for `same`]
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    pub fail_above: Option<String>,
    /// Exit with 1 also if a comparison has no clear result: inconclusive, gone, changed arguments, a saved kernel that
    /// no longer works, another device
    #[arg(long)]
    pub fail_inconclusive: bool,
}
