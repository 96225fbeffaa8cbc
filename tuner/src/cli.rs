//! The words that `tune` understands; their meaning is in [`crate::options`].

use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

use crate::regime::Regime;

/// Tune GPU kernels once, bake the winners in.
#[derive(Debug, Parser)]
#[command(
    name = "tune",
    version,
    about,
    disable_help_subcommand = false,
    args_conflicts_with_subcommands = true
)]
pub struct Cli {
    /// What to do; without a word: `run`.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options of `run`.
    #[command(flatten)]
    pub run: RunArgs,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write an empty `tuned/index.toml`, so that the macro finds its tables
    Init(InitArgs),
    /// Search, verify, confirm and bake (the default)
    Run(RunArgs),
    /// List the devices of this machine and what is missing for the others
    Devices(OutputArgs),
    /// List the kernels of a package, their problems and what is baked for them
    List(ListArgs),
    /// Describe a kernel's search space
    Space(SpaceArgs),
    /// Compile for GPUs that need not be here, and print registers, spills, shared memory and occupancy
    Inspect(InspectArgs),
    /// Write the baked tables from proven winners, or check that they are up to date
    Bake(BakeArgs),
    /// Launch every baked row and prove from the device's own receipt that it is the intended launch
    Smoke(SmokeArgs),
    /// Time the kernels as a build of now launches them, each beside its baseline; keep them for `tune compare`
    Bench(BenchArgs),
    /// Run saved kernels and those of now in the same session, and say which are slower
    Compare(CompareArgs),
    /// Explain what a result is keyed by, and which field differs from the stored ones
    Why(WhyArgs),
    /// Write a run as one HTML page: convergence, outcomes, importance of parameters, the winner's evidence
    Report(ReportArgs),
    /// Look after the cache of trials
    Cache(CacheArgs),
    /// Search recorded spaces instead of a device, and write the curves of the best time found
    Replay(ReplayArgs),
    /// Write spaces and results in the formats of other tuners: T1, T4, cache files of Kernel Tuner
    Export(ExportArgs),
    /// Run candidates for a parent process
    #[command(hide = true)]
    Worker,
    /// Probe a store for a parent process
    #[command(hide = true)]
    ProbeStore {
        /// The store.
        path: PathBuf,
    },
}

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
    /// Only kernels of these names
    #[arg(long = "kernel", short = 'k', value_name = "NAME")]
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

/// `tune init`
#[derive(Debug, Args)]
pub struct InitArgs {
    /// Which package.
    #[command(flatten)]
    pub package: PackageArgs,
}

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
    /// Only problems of this text, as `tune list` prints them
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
    /// Print a line for every trial as it is stored
    #[arg(long, short)]
    pub verbose: bool,
    /// Show what would be done and stop
    #[arg(long)]
    pub dry_run: bool,
    /// With --compile-only: the GPU to compile for, such as sm_89 or gfx1151; it need not be here
    #[arg(
        long = "target",
        value_name = "ARCH",
        num_args = 1..,
        requires = "compile_only",
        conflicts_with = "device"
    )]
    pub targets: Vec<String>,
    /// Launch nothing: find out which configs compile for a target and could be launched there
    #[arg(long, requires = "targets")]
    pub compile_only: bool,
}

/// `tune list`
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Which package.
    #[command(flatten)]
    pub package: PackageArgs,
    /// How to print.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `tune space`
#[derive(Debug, Args)]
pub struct SpaceArgs {
    /// Which package.
    #[command(flatten)]
    pub package: PackageArgs,
    /// Which device.
    #[command(flatten)]
    pub device: DeviceArgs,
    /// How to print.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Print every valid config too
    #[arg(long)]
    pub configs: bool,
    /// Look at the space that this file defines (a definition or a T1 file), not at kernels
    #[arg(long, value_name = "FILE", conflicts_with = "configs")]
    pub definition: Option<PathBuf>,
    /// Print only how many configs are valid
    #[arg(long, requires = "definition", conflicts_with = "json")]
    pub count: bool,
}

/// `tune inspect`
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// Which package.
    #[command(flatten)]
    pub package: PackageArgs,
    /// How to print.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Only these kernels
    #[arg(value_name = "KERNEL")]
    pub names: Vec<String>,
    /// Only these GPUs, such as sm_89 or gfx1151 [default: every known one]
    #[arg(long = "target", value_name = "ARCH")]
    pub targets: Vec<String>,
    /// For this problem, as `tune list` prints it [default: the first declared]
    #[arg(long, value_name = "SIZES")]
    pub problem: Option<String>,
    /// This config, as `tune space --configs` prints it
    #[arg(long, value_name = "CONFIG")]
    pub config: Option<String>,
    /// The configs of all baked rows
    #[arg(long)]
    pub baked: bool,
    /// The simplest correct version
    #[arg(long)]
    pub baseline: bool,
    /// Four configs from the corners of the search space
    #[arg(long)]
    pub all_corners: bool,
    /// Compile threads [default: all cores]
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    pub jobs: Option<usize>,
}

/// `tune bake`
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("of_a_target").args(["images", "untuned"]))]
pub struct BakeArgs {
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
    /// Write nothing; exit with 1 if a table is missing, stale or malformed
    #[arg(long)]
    pub check: bool,
    /// Write into the package's `tuned/` even for the cpu of this machine
    #[arg(long)]
    pub write: bool,
    /// Compile an image for every baked row, for programs that run where no compiler is; with --check: every row must
    /// have one
    #[arg(long, conflicts_with_all = ["write", "device"])]
    pub images: bool,
    /// With --images: only for these targets; with --untuned: the GPUs to guess for: `sm_89`, `gfx1151`, `x86-64-v3`
    #[arg(long = "target", value_name = "TARGET", num_args = 1.., requires = "of_a_target", conflicts_with = "check")]
    pub targets: Vec<String>,
    /// Bake guesses for a GPU that was never measured, as rows of that evidence: predicted
    #[arg(long, value_name = "EVIDENCE", requires = "targets", conflicts_with_all = ["check", "device", "write"])]
    pub untuned: Option<Untuned>,
}

/// What may stand in a table for a device that was never measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Untuned {
    /// What an analytic model picks, where it beats random order.
    Predicted,
}

/// `tune smoke`
#[derive(Debug, Args)]
pub struct SmokeArgs {
    /// Which package.
    #[command(flatten)]
    pub package: PackageArgs,
    /// Which device.
    #[command(flatten)]
    pub device: DeviceArgs,
    /// How to print.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// What is watched, and with how much time.
#[derive(Debug, Args)]
pub struct WatchArgs {
    /// Which package.
    #[command(flatten)]
    pub package: PackageArgs,
    /// Only problems of this text, as `tune list` prints them
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

/// `tune why`
#[derive(Debug, Args)]
pub struct WhyArgs {
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
    /// The kernel
    pub kernel: String,
    /// The problem, as `m=512,n=512,k=512` [default: the first declared]
    pub problem: Option<String>,
}

/// `tune report`
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// How to print.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Number of the run [default: the last one]
    pub run: Option<u64>,
    /// Only kernels of these names; without RUN, the last run that tuned one of them
    #[arg(long = "kernel", short = 'k', value_name = "NAME")]
    pub kernels: Vec<String>,
    /// Only a run on this device: `cpu`, `cuda:0`, `hip:0`, …
    #[arg(long, short, value_name = "DEVICE")]
    pub device: Option<String>,
    /// Where to write the page [default: tune-report-RUN.html; with --json: nowhere]
    #[arg(long, short = 'o', value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// List the runs instead
    #[arg(long, conflicts_with_all = ["run", "kernels", "device", "out"])]
    pub list: bool,
    /// Report the searches that `tune replay --curves FILE` wrote instead of a run [default of --out: tune-report-curves.html]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["run", "kernels", "device", "list"])]
    pub curves: Option<PathBuf>,
}

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
    #[arg(long = "set", value_name = "NAME=NUMBER")]
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

/// `tune cache`
#[derive(Debug, Args)]
pub struct CacheArgs {
    /// What to do with it.
    #[command(subcommand)]
    pub action: CacheAction,
}

/// What to do with the cache.
#[derive(Debug, Subcommand)]
pub enum CacheAction {
    /// Print where the cache is
    Path,
    /// Count what is stored
    Stats(OutputArgs),
    /// Check journal and store record by record; exit with 1 if anything is damaged
    Verify(OutputArgs),
    /// Print everything that is stored as one JSON document
    Export,
    /// Delete everything that is stored
    Clear {
        /// Really
        #[arg(long)]
        yes: bool,
    },
}
