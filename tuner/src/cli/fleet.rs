//! The arguments of `tune fleet`, which tunes one plan on many machines.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::scope::{OutputArgs, PackageArgs, RegimeArgs, SearchArgs};

/// The arguments of `tune fleet`.
#[derive(Debug, Args)]
pub struct FleetArgs {
    /// The action.
    #[command(subcommand)]
    pub action: FleetAction,
}

/// The actions of `tune fleet`.
#[derive(Debug, Subcommand)]
pub enum FleetAction {
    /// Write and sign a plan: the kernels and problems of a package, for some kinds of devices
    Plan(Box<PlanArgs>),
    /// Print the job file that runs a plan's elements under a scheduler
    Job(JobArgs),
    /// Run one element of a plan on this machine, and publish its results
    Work(WorkArgs),
    /// Verify the results of a plan in a store, write the rows that are proven on enough devices, and plan the
    /// remaining work
    Merge(MergeArgs),
    /// Report the progress of a plan
    Status(StatusArgs),
}

/// The arguments of `tune fleet plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// The package and its kernels.
    #[command(flatten)]
    pub package: PackageArgs,
    /// The regime: cold or hot caches.
    #[command(flatten)]
    pub regime: RegimeArgs,
    /// The kinds of devices, as `backend/arch/name` or the start of it: `cuda/sm_89`, `cuda/sm_86/NVIDIA GeForce RTX 3090`, `cpu`
    #[arg(long = "kind", value_name = "KIND", num_args = 1.., required = true)]
    pub kinds: Vec<String>,
    /// The problems and the settings of the search.
    #[command(flatten)]
    pub search: SearchArgs,
    /// Where elements publish their results: a folder that all nodes see, or a bucket as `s3://bucket/prefix`
    #[arg(long, value_name = "STORE")]
    pub store: String,
    /// Number of devices of a kind on which a row must be proven
    #[arg(long, value_name = "COUNT", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=16))]
    pub replicas: u32,
    /// How devices that prove a row must differ: be different devices, or also use different worker keys
    #[arg(long, value_enum, default_value_t = DistinctBy::Device)]
    pub distinct: DistinctBy,
    /// Number of searches per problem, with different seeds; a final element races their winners and confirms the best
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub shards: u32,
    /// Problems in one element
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub per_element: u32,
    /// Time of one element: `90s`, `5m`, `1h`, or `full` for no limit [default: 5m]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub budget: Option<String>,
    /// When the plan and its worker key expire: `12h`, `7d`
    #[arg(long, value_name = "TIME", default_value = "7d")]
    pub expires: String,
    /// The SSH key that signs the plan, or the public key of one in your agent [default: ~/.ssh/id_ed25519]
    #[arg(long, value_name = "FILE")]
    pub sign: Option<PathBuf>,
    /// File to write the plan to; the worker key goes next to it, as FILE.key
    #[arg(long, short = 'o', value_name = "FILE", default_value = "fleet.plan")]
    pub out: PathBuf,
}

/// How the devices that prove a row must differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DistinctBy {
    /// They must be different devices.
    Device,
    /// They must also use different worker keys.
    Key,
}

/// A scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineName {
    /// A Slurm job array.
    Slurm,
    /// A Kubernetes Indexed Job.
    Kubernetes,
    /// A GitHub Actions matrix.
    Github,
    /// A GNU parallel command line.
    Parallel,
}

/// A plan and its store.
#[derive(Clone, Debug, Args)]
pub struct PlanFileArgs {
    /// The plan
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// Where elements publish their results
    #[arg(long, value_name = "STORE")]
    pub store: String,
}

/// The arguments of `tune fleet job`.
#[derive(Debug, Args)]
pub struct JobArgs {
    /// The plan and its store.
    #[command(flatten)]
    pub plan: PlanFileArgs,
    /// The scheduler
    #[arg(long, value_enum)]
    pub engine: EngineName,
    /// The worker key [default: PLAN.key]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Only elements whose results are not in the store yet
    #[arg(long)]
    pub missing: bool,
    /// Only elements for this kind of device, because a job requests one kind [default: all]
    #[arg(long, value_name = "KIND")]
    pub kind: Option<String>,
    /// Only elements with these numbers
    #[arg(long, value_name = "FIRST-LAST", value_parser = range)]
    pub elements: Option<(u32, u32)>,
    /// `tune` on the nodes
    #[arg(long, value_name = "PROGRAM", default_value = "tune")]
    pub tune: String,
    /// Maximum number of elements at a time [default: the scheduler's]
    #[arg(long, value_name = "COUNT")]
    pub at_once: Option<u32>,
    /// Slurm: the device of an element, as `--gres` takes it: `gpu:1`, `gpu:l4:1`
    #[arg(long, value_name = "GRES")]
    pub gres: Option<String>,
    /// Slurm: the partition
    #[arg(long, value_name = "NAME")]
    pub partition: Option<String>,
    /// Slurm: maximum time of an element, in minutes
    #[arg(long, value_name = "MINUTES", default_value_t = 60)]
    pub minutes: u32,
    /// Kubernetes: the image, which has `tune`, the sources and the plan
    #[arg(long, value_name = "IMAGE", default_value = "kiln")]
    pub image: String,
    /// Kubernetes: the resource of a device, such as `nvidia.com/gpu`
    #[arg(long, value_name = "NAME")]
    pub resource: Option<String>,
    /// Kubernetes: a label of the nodes of the kind, `name=value`; may be repeated
    #[arg(long, value_name = "LABEL", value_parser = label)]
    pub node_selector: Vec<(String, String)>,
    /// Kubernetes, GitHub: the secret with the worker key
    #[arg(long, value_name = "NAME", default_value = "kiln-fleet-key")]
    pub secret: String,
    /// GitHub: a label of the runners of the kind; may be repeated
    #[arg(long, value_name = "LABEL", default_value = "self-hosted")]
    pub runner: Vec<String>,
}

/// Parses `FIRST-LAST`.
fn range(text: &str) -> Result<(u32, u32), &'static str> {
    let (first, last) = text.split_once('-').ok_or("it is not `FIRST-LAST`")?;
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) if first <= last => Ok((first, last)),
        _ => Err("it is not `FIRST-LAST`, such as 0-999"),
    }
}

/// Splits `name=value` into its two parts.
fn label(text: &str) -> Result<(String, String), &'static str> {
    let (name, value) = text.split_once('=').ok_or("it is not `name=value`")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// The arguments of `tune fleet work`.
#[derive(Debug, Args)]
pub struct WorkArgs {
    /// The plan and its store.
    #[command(flatten)]
    pub plan: PlanFileArgs,
    /// Number of the element
    #[arg(long, value_name = "NUMBER")]
    pub element: u32,
    /// The worker key [default: PLAN.key]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// The device [default: the first one of the element's kind]
    #[arg(long, short, value_name = "DEVICE")]
    pub device: Option<String>,
    /// Cargo.toml of the workspace with the kernels
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
    /// Folder for the element's cache, on a local disk [default: $SLURM_TMPDIR, else $TMPDIR, else /tmp]
    #[arg(long, value_name = "FOLDER")]
    pub scratch: Option<PathBuf>,
    /// Maximum time between publications, such as `30s` or `5m`; unpublished results of a killed process are measured
    /// again
    #[arg(long, value_name = "TIME", default_value = "30s")]
    pub publish_every: String,
    /// Measure even if other processes compute on the GPU [default: exit with 75, which makes the scheduler try
    /// elsewhere]
    #[arg(long)]
    pub allow_shared_gpu: bool,
}

/// The arguments of `tune fleet merge`.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// The plan and its store.
    #[command(flatten)]
    pub plan: PlanFileArgs,
    /// The output format.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Cargo.toml of the workspace with the kernels
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
    /// File of the signers who may sign plans, in the format of OpenSSH [default: allowed_signers in the package's
    /// `tuned/`]
    #[arg(long, value_name = "FILE")]
    pub allowed_signers: Option<PathBuf>,
    /// Write and sign a plan of the remaining work: final decisions and proofs on further devices
    #[arg(long, value_name = "FILE")]
    pub next: Option<PathBuf>,
    /// With --next: the SSH key that signs the plan [default: ~/.ssh/id_ed25519]
    #[arg(long, value_name = "FILE", requires = "next")]
    pub sign: Option<PathBuf>,
    /// Print what would be written, and write nothing
    #[arg(long, conflicts_with = "next")]
    pub dry_run: bool,
}

/// The arguments of `tune fleet status`.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// The plan and its store.
    #[command(flatten)]
    pub plan: PlanFileArgs,
    /// The output format.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Cargo.toml of the workspace with the kernels, if it is here
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
    /// Who may sign plans, in the format of OpenSSH [default: allowed_signers in the package's `tuned/`, if it is here]
    #[arg(long, value_name = "FILE")]
    pub allowed_signers: Option<PathBuf>,
}
