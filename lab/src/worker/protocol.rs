//! The messages between the parent and a worker. They contain only data: no code, and no expressions to evaluate.

use std::path::PathBuf;

use kiln::rig::{HostPace, Layout};
use kiln_cache::Outcome;
use kiln_spec::{Config, Hash, LaunchPlan, Problem};
use serde::{Deserialize, Serialize};

use super::compile::{CompileJob, CompilerJob, JobOutcome, Refused};
use kiln_measure::Sample;

/// The version of this protocol. Parent and worker are the same program, so different versions mean that the wrong
/// program was started.
pub const PROTOCOL: u32 = 7;

/// A request to a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Request {
    /// Open a compiler. Sent once per worker; such a worker only compiles.
    OpenCompiler(CompilerJob),
    /// Compile one source text.
    Compile(CompileJob),
    /// Look up a kernel's plain-Rust reference. Sent once per worker; such a worker only computes expected outputs, and
    /// opens no device.
    OpenReference(ReferenceJob),
    /// Open the device, generate the inputs, and load the arms (compiled candidates) in the specified order. Sent once
    /// per worker.
    Open(Box<OpenJob>),
    /// Load an arm and replace all loaded arms. Only for workers that do not time launches.
    Load(Box<ArmJob>),
    /// Launch the receipt and release entries of one arm on a problem, and compare the outputs with the expected ones.
    Verify(VerifyJob),
    /// Launch one arm once and write its outputs to a file, as expected outputs.
    WriteReference {
        /// The index of the arm.
        arm: usize,
        /// The problem of the launch.
        problem: Problem,
        /// The launch plan for the problem.
        plan: LaunchPlan,
        /// The seed of the inputs.
        seed: u64,
        /// The file to write.
        path: PathBuf,
    },
    /// Run the opened plain-Rust reference and write its outputs to a file, as expected outputs.
    RustReference {
        /// The problem of the launch.
        problem: Problem,
        /// The seed of the inputs.
        seed: u64,
        /// The file to write.
        path: PathBuf,
    },
    /// Time the arms in this order, with one sample for each index.
    Sample {
        /// The indices of the arms.
        schedule: Vec<usize>,
    },
    /// Launch timed arms once more and compare their outputs, which must still be right. Before the launch, the output
    /// buffers are filled with a poison pattern.
    Recheck {
        /// The indices of the arms.
        arms: Vec<usize>,
        /// The seed of the inputs to which the expected outputs belong. The arms may have been timed on others.
        seed: u64,
        /// The file with the expected outputs of the opened problem.
        expected: PathBuf,
    },
    /// Time a sequence of launches of an arm with the host's clock, once queued one by one and once replayed from a
    /// recording.
    HostPace {
        /// The index of the arm.
        arm: usize,
        /// Number of launches in a sequence.
        launches: u32,
        /// Number of pairs of measurements: one of queued launches, and one of a replay.
        pairs: usize,
    },
}

/// The plain-Rust reference that a worker opens.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReferenceJob {
    /// The version of the protocol: [`PROTOCOL`].
    pub protocol: u32,
    /// The package that declares the kernel.
    pub package: String,
    /// The kernel spec, as JSON.
    pub spec_json: String,
    /// Limits that the worker sets for its own process.
    pub limits: ProcessLimits,
}

/// The device, arms (compiled candidates) and data that a worker opens.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OpenJob {
    /// The version of the protocol: [`PROTOCOL`].
    pub protocol: u32,
    /// The name of the device on the command line.
    pub device: String,
    /// The package that declares the kernel.
    pub package: String,
    /// The kernel spec, as JSON.
    pub spec_json: String,
    /// The problem on which the arms are timed.
    pub problem: Problem,
    /// The seed of the inputs.
    pub seed: u64,
    /// The arms: candidates, and possibly the baseline.
    pub arms: Vec<ArmJob>,
    /// The indices of the arms, in the order in which their modules are loaded.
    pub load_order: Vec<usize>,
    /// The number of copies of the data that timed launches cycle through.
    pub sets: usize,
    /// Whether the arms will be timed. If so, the worker warms up each arm and determines its number of launches per
    /// sample.
    pub timed: bool,
    /// The resolution of the device's clock in nanoseconds, as the parent determined it. The worker does not determine
    /// the resolution itself, because with another value, its samples could be too short for the parent.
    pub timer_tick_ns: u64,
    /// Limits that the worker sets for its own process.
    pub limits: ProcessLimits,
}

/// Limits of a worker process.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ProcessLimits {
    /// Address space in bytes; 0 for no limit.
    pub memory_bytes: u64,
    /// Processor time in seconds; 0 for no limit.
    pub cpu_seconds: u64,
}

/// One compiled candidate, for loading in a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ArmJob {
    /// The file of the compiled artifact.
    pub artifact: PathBuf,
    /// The content hash of the artifact. A file with another hash is an error.
    pub artifact_hash: Hash,
    /// The target for which the artifact was compiled.
    pub target: String,
    /// Whether the artifact is a check build.
    pub check: bool,
    /// The symbol of the release entry.
    pub release: String,
    /// The symbol of the receipt entry.
    pub receipt: String,
    /// The hash of the entry's symbol. The receipt must contain this hash.
    pub symbol_hash: u64,
    /// The hash of the config. The receipt must contain this hash.
    pub config_hash: u64,
    /// The candidate's config.
    pub config: Config,
    /// Whether the arm is launched with the baseline's geometry, because it is the baseline or the reference entry.
    pub baseline: bool,
    /// The launch plan for the opened problem, computed by the parent.
    pub plan: LaunchPlan,
    /// Launches per sample, if an earlier worker determined the number; 0 if this worker must determine it.
    pub launches: u32,
    /// Time of a launch in nanoseconds, if an earlier worker determined it; otherwise 0.
    pub launch_ns: u64,
}

/// A request to verify one arm on one problem.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VerifyJob {
    /// The index of the arm.
    pub arm: usize,
    /// The problem of the launch.
    pub problem: Problem,
    /// The launch plan for the problem, computed by the parent.
    pub plan: LaunchPlan,
    /// The seed of the inputs.
    pub seed: u64,
    /// The file of expected outputs, which a reference request wrote.
    pub expected: PathBuf,
    /// A number that the device must copy into the receipt; `None` to skip the receipt entry.
    pub nonce: Option<u64>,
    /// Where buffers are placed.
    pub layout: Layout,
    /// Whether another launch follows that finds the workspaces as the one before left them.
    pub again: bool,
}

/// The result of a successful verification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verified {
    /// The largest error of any output element, as a fraction of its bound.
    pub worst: f64,
    /// The receipt as text; empty if the receipt entry was not launched.
    pub receipt: String,
    /// What a check build remarked, which is not a fault.
    pub remark: Option<String>,
    /// The hash of the outputs, if they are small and the receipt entry was launched.
    pub outputs: Option<Hash>,
}

/// The reply to a request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Reply {
    /// `None` if the compiler is open; otherwise the reason why it is not.
    CompilerOpened(Option<Refused>),
    /// The result of a compile.
    Compiled(JobOutcome),
    /// The plain-Rust reference is found.
    ReferenceOpened,
    /// The device, the arms and the data are open.
    Opened {
        /// For each arm, the number of launches per sample, and the time of a launch in nanoseconds. Both are 0 if the
        /// arms will not be timed.
        pace: Vec<(u32, u64)>,
    },
    /// The arm is loaded.
    Loaded,
    /// The arm is verified.
    Verified(Verified),
    /// The arm that is about to be launched. If the worker dies or stops replying, this arm is considered the cause.
    /// This message does not answer a request.
    Launching {
        /// The index of the arm.
        arm: usize,
    },
    /// The first launch of a request on the opened problem took this time. This message does not answer a request.
    Launched {
        /// The time on the host's clock, in nanoseconds.
        ns: u64,
    },
    /// The file of expected outputs is written.
    Written,
    /// One sample for each index of the schedule.
    Samples(Vec<Sample>),
    /// Every requested arm still computes the right outputs.
    Rechecked,
    /// The measured pairs; `None` if the device cannot record launches.
    HostPace(Option<Vec<HostPace>>),
    /// The request failed.
    Failed {
        /// The index of the arm, if the failure belongs to one arm.
        arm: Option<usize>,
        /// The outcome to store.
        outcome: Outcome,
    },
}
