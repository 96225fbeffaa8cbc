//! What parent and worker say to each other: data only, no code and no expressions to run.

use std::path::PathBuf;

use kiln::rig::HostPace;
use kiln_cache::Outcome;
use kiln_spec::{Config, Hash, LaunchPlan, Problem};
use serde::{Deserialize, Serialize};

use super::compile::{CompileJob, CompilerJob, JobOutcome, Refused};
use kiln_measure::Sample;

/// Version of this protocol; parent and worker are the same program, so a difference means a mix-up.
pub const PROTOCOL: u32 = 4;

/// A request to the worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Request {
    /// Opens a compiler. Once per worker, which then does nothing but compile.
    OpenCompiler(CompilerJob),
    /// Compiles one source text.
    Compile(CompileJob),
    /// Opens the device, makes the inputs and loads the arms, in the order given. Once per worker.
    Open(Box<OpenJob>),
    /// Loads another arm in place of all that are loaded, in a worker that times none.
    Load(Box<ArmJob>),
    /// Launches one arm's receipt and release entries on a problem and compares the outputs.
    Verify(VerifyJob),
    /// Launches one arm once and writes its outputs to a file, as a reference.
    WriteReference {
        /// Which arm.
        arm: usize,
        /// The problem.
        problem: Problem,
        /// The plan for it.
        plan: LaunchPlan,
        /// Seed of the inputs.
        seed: u64,
        /// Where to write.
        path: PathBuf,
    },
    /// Runs a kernel's plain-Rust reference and writes its outputs to a file.
    RustReference {
        /// The problem.
        problem: Problem,
        /// Seed of the inputs.
        seed: u64,
        /// Where to write.
        path: PathBuf,
    },
    /// Times the arms in this order; one sample each.
    Sample {
        /// Indices of arms.
        schedule: Vec<usize>,
    },
    /// Launches arms once more on poisoned outputs and compares: what was timed still works.
    Recheck {
        /// Which arms.
        arms: Vec<usize>,
        /// Expected outputs of the opened problem.
        expected: PathBuf,
    },
    /// Times a row of launches of an arm by the host's clock: queued one by one, and replayed from a recording.
    HostPace {
        /// Which arm.
        arm: usize,
        /// Launches in a row.
        launches: u32,
        /// How often, each way.
        pairs: usize,
    },
}

/// What a worker opens.
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
    /// How many copies of the data timed launches take in turn.
    pub sets: usize,
    /// Whether the arms are to be timed: warms each and finds how many launches a sample takes.
    pub timed: bool,
    /// The smallest time difference that the device's clock tells, in nanoseconds, as the parent found it: what a
    /// worker finds by itself may differ, and samples would be too short by the parent's measure.
    pub timer_tick_ns: u64,
    /// Limits that the worker sets for itself.
    pub limits: ProcessLimits,
}

/// Limits of a worker process.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ProcessLimits {
    /// Address space in bytes; 0 for none.
    pub memory_bytes: u64,
    /// Processor seconds; 0 for none.
    pub cpu_seconds: u64,
}

/// One candidate in a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ArmJob {
    /// The compiled artifact.
    pub artifact: PathBuf,
    /// Its content hash: the worker refuses another file.
    pub artifact_hash: Hash,
    /// The target it was compiled for.
    pub target: String,
    /// Whether it is a checking build.
    pub check: bool,
    /// The release entry.
    pub release: String,
    /// The receipt entry.
    pub receipt: String,
    /// What the receipt must say the symbol is.
    pub symbol_hash: u64,
    /// What the receipt must say the config is.
    pub config_hash: u64,
    /// The config.
    pub config: Config,
    /// Whether it is the baseline (which may be an entry with its own geometry).
    pub baseline: bool,
    /// The plan for the opened problem, worked out by the parent.
    pub plan: LaunchPlan,
    /// Launches of one sample, where an earlier worker found out; 0 to find out.
    pub launches: u32,
    /// What a launch takes, in nanoseconds, where an earlier worker found out; 0 where not.
    pub launch_ns: u64,
}

/// One verification.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VerifyJob {
    /// Which arm.
    pub arm: usize,
    /// On which problem.
    pub problem: Problem,
    /// The plan for it, worked out by the parent.
    pub plan: LaunchPlan,
    /// Seed of the inputs.
    pub seed: u64,
    /// Expected outputs, as a reference request wrote them.
    pub expected: PathBuf,
    /// Launch the receipt entry too; the device must copy this number into the receipt.
    pub nonce: Option<u64>,
    /// Put buffers against inaccessible memory rather than between guard zones, where the device can.
    pub fenced: bool,
}

/// A verified launch.
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
    /// The compiler is open, or why it is not.
    CompilerOpened(Option<Refused>),
    /// What became of a compile.
    Compiled(JobOutcome),
    /// Opened.
    Opened {
        /// For each arm how many launches a sample takes, and what one takes in nanoseconds; zeros where the arms
        /// are not to be timed.
        pace: Vec<(u32, u64)>,
    },
    /// Loaded.
    Loaded,
    /// Verified.
    Verified(Verified),
    /// The arm that is about to be launched: whom to blame if nothing more is heard. No answer to a request.
    Launching {
        /// Which arm.
        arm: usize,
    },
    /// The reference was written.
    Written,
    /// One sample for each entry of the schedule.
    Samples(Vec<Sample>),
    /// Every arm still computes what it should.
    Rechecked,
    /// The pairs that were measured; `None` where the device records nothing.
    HostPace(Option<Vec<HostPace>>),
    /// The arm failed.
    Failed {
        /// Which arm, where one can be named.
        arm: Option<usize>,
        /// What became of it, as it is stored.
        outcome: Outcome,
    },
}
