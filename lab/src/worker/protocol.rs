//! The messages between parent and worker: data only, no code and no expressions to run.

use std::path::PathBuf;

use kiln::rig::HostPace;
use kiln_cache::Outcome;
use kiln_spec::{Config, Hash, LaunchPlan, Problem};
use serde::{Deserialize, Serialize};

use super::compile::{CompileJob, CompilerJob, JobOutcome, Refused};
use kiln_measure::Sample;

/// Version of this protocol. Parent and worker are the same program, so different versions mean a mix-up.
pub const PROTOCOL: u32 = 4;

/// A request to the worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Request {
    /// Opens a compiler. Sent once per worker, which then only compiles.
    OpenCompiler(CompilerJob),
    /// Compiles one source text.
    Compile(CompileJob),
    /// Opens the device, generates the inputs and loads the arms, in the given order. Sent once per worker.
    Open(Box<OpenJob>),
    /// Loads an arm, replacing all loaded ones. For workers that do not time.
    Load(Box<ArmJob>),
    /// Launches one arm's receipt and release entries on a problem and compares the outputs.
    Verify(VerifyJob),
    /// Launches one arm once and writes its outputs to a file, as a reference.
    WriteReference {
        /// The arm.
        arm: usize,
        /// The problem.
        problem: Problem,
        /// The plan for it.
        plan: LaunchPlan,
        /// Seed of the inputs.
        seed: u64,
        /// The file to write.
        path: PathBuf,
    },
    /// Runs a kernel's plain-Rust reference and writes its outputs to a file.
    RustReference {
        /// The problem.
        problem: Problem,
        /// Seed of the inputs.
        seed: u64,
        /// The file to write.
        path: PathBuf,
    },
    /// Times the arms in this order, one sample each.
    Sample {
        /// Indices of arms.
        schedule: Vec<usize>,
    },
    /// Launches arms once more on poisoned outputs and compares them: the timed arms must still be right.
    Recheck {
        /// The arms.
        arms: Vec<usize>,
        /// Expected outputs of the opened problem.
        expected: PathBuf,
    },
    /// Times a row of launches of an arm by the host's clock: queued one by one, and replayed from a recording.
    HostPace {
        /// The arm.
        arm: usize,
        /// Launches in a row.
        launches: u32,
        /// Repetitions of each way.
        pairs: usize,
    },
}

/// The device, arms and data that a worker opens.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OpenJob {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// The device, as on the command line.
    pub device: String,
    /// The package that declares the kernel.
    pub package: String,
    /// The kernel spec.
    pub spec_json: String,
    /// The problem that is timed.
    pub problem: Problem,
    /// Seed of the inputs.
    pub seed: u64,
    /// Candidates (and the baseline), by arm.
    pub arms: Vec<ArmJob>,
    /// The order in which the arms' modules are loaded.
    pub load_order: Vec<usize>,
    /// The number of copies of the data that timed launches use in turn.
    pub sets: usize,
    /// Whether the arms will be timed. If so, the worker warms each one and determines its number of launches per
    /// sample.
    pub timed: bool,
    /// The resolution of the device's clock in nanoseconds, as the parent determined it. A worker may determine
    /// another value, and its samples would be too short by the parent's measure.
    pub timer_tick_ns: u64,
    /// Limits that the worker sets for itself.
    pub limits: ProcessLimits,
}

/// Limits of a worker process.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ProcessLimits {
    /// Address space in bytes; 0 for unlimited.
    pub memory_bytes: u64,
    /// Processor time in seconds; 0 for unlimited.
    pub cpu_seconds: u64,
}

/// One candidate in a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ArmJob {
    /// The compiled artifact.
    pub artifact: PathBuf,
    /// Its content hash: the worker refuses a file with another hash.
    pub artifact_hash: Hash,
    /// The target that it was compiled for.
    pub target: String,
    /// Whether it is a check build.
    pub check: bool,
    /// The release entry.
    pub release: String,
    /// The receipt entry.
    pub receipt: String,
    /// The hash of the symbol that the receipt must contain.
    pub symbol_hash: u64,
    /// The hash of the config that the receipt must contain.
    pub config_hash: u64,
    /// The config.
    pub config: Config,
    /// Whether it is the baseline (which may be an entry with its own geometry).
    pub baseline: bool,
    /// The plan for the opened problem, computed by the parent.
    pub plan: LaunchPlan,
    /// Launches per sample if an earlier worker determined it; 0 to determine it.
    pub launches: u32,
    /// Time of a launch in nanoseconds if an earlier worker determined it; otherwise 0.
    pub launch_ns: u64,
}

/// One verification.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VerifyJob {
    /// The arm.
    pub arm: usize,
    /// The problem.
    pub problem: Problem,
    /// The plan for it, computed by the parent.
    pub plan: LaunchPlan,
    /// Seed of the inputs.
    pub seed: u64,
    /// The file of expected outputs, written by a reference request.
    pub expected: PathBuf,
    /// Whether to launch the receipt entry too; the device must copy this number into the receipt.
    pub nonce: Option<u64>,
    /// Place buffers against guard pages instead of between guard zones, if the device supports it.
    pub fenced: bool,
}

/// The result of a successful verification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verified {
    /// Largest error of any output, as a fraction of its bound (1 is the bound).
    pub worst: f64,
    /// The receipt in words.
    pub receipt: String,
}

/// The answer to a request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Reply {
    /// The compiler is open; otherwise the reason why it is not.
    CompilerOpened(Option<Refused>),
    /// The result of a compile.
    Compiled(JobOutcome),
    /// Opened.
    Opened {
        /// For each arm the number of launches per sample, and the time of a launch in nanoseconds; zeros if the arms
        /// are not to be timed.
        pace: Vec<(u32, u64)>,
    },
    /// Loaded.
    Loaded,
    /// Verified.
    Verified(Verified),
    /// The arm that is about to be launched, and to blame if the worker falls silent. This is not an answer to a
    /// request.
    Launching {
        /// The arm.
        arm: usize,
    },
    /// The reference was written.
    Written,
    /// One sample for each entry of the schedule.
    Samples(Vec<Sample>),
    /// Every arm still computes the right outputs.
    Rechecked,
    /// The measured pairs; `None` if the device cannot record launches.
    HostPace(Option<Vec<HostPace>>),
    /// The arm failed.
    Failed {
        /// The arm, if one can be named.
        arm: Option<usize>,
        /// The outcome to store.
        outcome: Outcome,
    },
}
