//! The words of `tune bench` and `tune compare`.

use std::path::PathBuf;

use clap::Args;

use super::scope::{LinesArgs, OutputArgs, PackageArgs, RegimeArgs};

/// What is watched, and with how much time.
#[derive(Debug, Args)]
pub struct WatchArgs {
    /// Which package.
    #[command(flatten)]
    pub package: PackageArgs,
    /// Only these problems, as `tune list` prints them: `n=100`, or several as `n=100,n=200` or with the option repeated
    #[arg(long = "problem", value_name = "SIZES")]
    pub problems: Vec<String>,
    /// How it is measured.
    #[command(flatten)]
    pub regime: RegimeArgs,
    /// Time for everything together: `90s`, `5m`, `1h`, or `full` for no limit
    #[arg(
        long,
        value_name = "TIME",
        default_value = "10m",
        allow_hyphen_values = true
    )]
    pub budget: String,
    /// Seed of everything random
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 1,
        allow_negative_numbers = true
    )]
    pub seed: u64,
    /// Measure although other processes compute on the GPU [otherwise: exit with 4]
    #[arg(long)]
    pub allow_shared_gpu: bool,
    /// How to print.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `tune bench`
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// What, and with how much time.
    #[command(flatten)]
    pub watch: WatchArgs,
    /// The devices, with commas between: `cpu`, `cuda:0`, `hip:0`, … [default: the first GPU, else cpu]
    #[arg(long = "device", short, value_name = "DEVICES", value_delimiter = ',')]
    pub devices: Vec<String>,
    /// Write the kernels themselves into this file, for `tune compare`; packed where it ends in `.gz`
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// A command that computes the same (docs/peers.md): times every kernel beside it; may be given several times
    #[arg(long = "peer", value_name = "COMMAND")]
    pub peers: Vec<String>,
    /// How to print while it runs.
    #[command(flatten)]
    pub lines: LinesArgs,
}

/// `tune compare`
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// What `tune bench --save` wrote
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// What, and with how much time.
    #[command(flatten)]
    pub watch: WatchArgs,
    /// The devices, with commas between [default: every device here of a kind that the file has]
    #[arg(long = "device", short, value_name = "DEVICES", value_delimiter = ',')]
    pub devices: Vec<String>,
    /// Exit with 1 where a kernel is proven slower and a slow-down of this much (`5%`) is not excluded; a change of this
    /// much must be excluded for two kernels to be called the same [without it: nothing slower fails; 5% for the latter]
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    pub fail_above: Option<String>,
    /// Exit with 1 also where the question stays open: inconclusive, gone, changed arguments, a saved kernel that no
    /// longer works, another device
    #[arg(long)]
    pub fail_inconclusive: bool,
}
