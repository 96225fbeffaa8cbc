//! The arguments of the commands about stored results: `why`, `report` and `cache`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::scope::{DeviceArgs, OutputArgs, PackageArgs, RegimeArgs};

/// The arguments of `tune why`.
#[derive(Debug, Args)]
pub struct WhyArgs {
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
    /// The kernel
    pub kernel: String,
    /// The problem, as `m=512,n=512,k=512` [default: the first declared]
    #[arg(value_name = "SIZES", conflicts_with = "problem")]
    pub sizes: Option<String>,
    /// The problem, as an option
    #[arg(long, value_name = "SIZES")]
    pub problem: Option<String>,
}

/// The arguments of `tune report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The output format.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Number of the run [default: the last one]
    pub run: Option<u64>,
    /// Only these kernels: names separated by commas, or the option repeated; without RUN, the last run that tuned one of them
    #[arg(
        long = "kernel",
        short = 'k',
        value_name = "NAMES",
        value_delimiter = ','
    )]
    pub kernels: Vec<String>,
    /// Only a run on this device: `cpu`, `cuda:0`, `hip:0`, …
    #[arg(long, short, value_name = "DEVICE")]
    pub device: Option<String>,
    /// File to write the page to [default: tune-report-RUN.html; with --json: none]
    #[arg(long, short = 'o', value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// List the runs instead
    #[arg(long, conflicts_with_all = ["run", "kernels", "device", "out"])]
    pub list: bool,
    /// Report the searches that `tune replay --curves FILE` wrote instead of a run [default of --out: tune-report-curves.html]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["run", "kernels", "device", "list"])]
    pub curves: Option<PathBuf>,
    /// Report the profiles that `tune inspect --profile --json` printed into a file [default of --out: tune-report-profiles.html]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["run", "kernels", "device", "list", "curves"])]
    pub profiles: Option<PathBuf>,
    /// Report the plan whose state `tune fleet status --json` printed into a file [default of --out: tune-report-fleet.html]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["run", "kernels", "device", "list", "curves", "profiles"])]
    pub fleet: Option<PathBuf>,
}

/// The arguments of `tune cache`.
#[derive(Debug, Args)]
pub struct CacheArgs {
    /// The action.
    #[command(subcommand)]
    pub action: CacheAction,
}

/// The actions of `tune cache`.
#[derive(Debug, Subcommand)]
pub enum CacheAction {
    /// Print the cache's folder
    Path,
    /// Print how much is stored
    Stats(OutputArgs),
    /// Check every record of the journal and the store, after restoring damaged records of one from the other; exit
    /// with 1 if any is damaged or lost
    Verify(OutputArgs),
    /// Print everything stored as one JSON document
    Export,
    /// Publish the signed results of this machine in a store, for other machines to start from
    Push(PushArgs),
    /// Fetch the results of other machines from a store; searches start from them but prove every result again
    Pull(PullArgs),
    /// Delete everything stored
    Clear {
        /// Confirm the deletion
        #[arg(long)]
        yes: bool,
    },
}

/// The arguments of `tune cache push`.
#[derive(Debug, Args)]
pub struct PushArgs {
    /// The store: a folder that all machines see, or a bucket as `s3://bucket/prefix`
    #[arg(value_name = "STORE")]
    pub store: String,
    /// The SSH key that signs the results, or the public key of one in your agent [default: ~/.ssh/id_ed25519]
    #[arg(long, value_name = "FILE", alias = "key")]
    pub sign: Option<PathBuf>,
    /// The output format.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The arguments of `tune cache pull`.
#[derive(Debug, Args)]
pub struct PullArgs {
    /// The store: a folder that all machines see, or a bucket as `s3://bucket/prefix`
    #[arg(value_name = "STORE")]
    pub store: String,
    /// File of the signers whose results are accepted, in the format of OpenSSH [default: allowed_signers in the
    /// package's `tuned/`]
    #[arg(long, value_name = "FILE")]
    pub allowed_signers: Option<PathBuf>,
    /// Cargo.toml of the package with the default of --allowed-signers
    #[arg(long, value_name = "PATH", conflicts_with = "allowed_signers")]
    pub manifest_path: Option<PathBuf>,
    /// The output format.
    #[command(flatten)]
    pub output: OutputArgs,
}
