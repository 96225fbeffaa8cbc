//! The command line of `tune`; [`options`] converts and validates it.

mod exchange;
mod fleet;
mod kernels;
pub mod options;
mod results;
mod run;
mod scope;
mod tables;
mod watch;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

pub use exchange::{ExportArgs, ExportFormat, ReplayArgs};
pub use fleet::{
    DistinctBy, EngineName, FleetAction, FleetArgs, JobArgs, MergeArgs, PlanArgs, StatusArgs,
    WorkArgs,
};
pub use kernels::{InspectArgs, ListArgs, SpaceArgs};
pub use results::{CacheAction, CacheArgs, PullArgs, PushArgs, ReportArgs, WhyArgs};
pub use run::RunArgs;
pub use scope::{
    DEFAULT_SEED, DEFAULT_STRATEGY, DeviceArgs, LinesArgs, OutputArgs, PackageArgs, RegimeArgs,
    SearchArgs,
};
pub use tables::{BakeArgs, InitArgs, SmokeArgs, Untuned};
pub use watch::{BenchArgs, CompareArgs, WatchArgs};

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
    /// The subcommand; `run` if there is none.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options of `run`.
    #[command(flatten)]
    pub run: RunArgs,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write an empty `tuned/index.toml`, which the macro needs
    Init(InitArgs),
    /// Search, verify, confirm and bake (the default)
    Run(RunArgs),
    /// List the devices of this machine, and what is missing for others
    Devices(OutputArgs),
    /// List the kernels of a package, their problems and their baked rows
    List(ListArgs),
    /// Describe a kernel's search space
    Space(SpaceArgs),
    /// Compile for GPUs that need not be installed, and print registers, spills, shared memory and occupancy
    Inspect(InspectArgs),
    /// Write the baked tables from proven winners, or check that they are up to date
    Bake(BakeArgs),
    /// Launch every baked row and prove from the device's receipt that the intended launch ran
    Smoke(SmokeArgs),
    /// Time the kernels as a build would launch them today, each against its baseline; save them for `tune compare`
    Bench(BenchArgs),
    /// Run saved and current kernels in the same session, and report which are slower
    Compare(CompareArgs),
    /// Show the fields of a result's key, and how they differ from the keys of stored results
    Why(WhyArgs),
    /// Write a run as one HTML page: convergence, outcomes, importance of parameters, the winner's evidence
    Report(ReportArgs),
    /// Inspect, check, export, share or clear the cache of trials
    Cache(CacheArgs),
    /// Search recorded spaces instead of a device, and report the best time found over configs tried
    Replay(ReplayArgs),
    /// Write spaces and results in the formats of other tuners: T1, T4, cache files of Kernel Tuner
    Export(ExportArgs),
    /// Tune with many machines: write a signed plan, run its elements under a scheduler, merge the proven results
    Fleet(FleetArgs),
    /// Run candidates for a parent process
    #[command(hide = true)]
    Worker,
    /// Probe a store for a parent process
    #[command(hide = true)]
    ProbeStore {
        /// The path of the store.
        path: PathBuf,
    },
}
