//! Outcomes of configs. A failed config is a value, not an error.

use std::fmt;

use kiln_spec::Hash;
use serde::{Deserialize, Serialize};

use super::real::Real;

/// The figures of one measured config. Raw samples are not stored, because only a confirmation is evidence of a
/// speed-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Number of samples of the config that the race took.
    pub samples: u32,
    /// Median time of one launch, in nanoseconds.
    pub median_ns: u64,
    /// Shortest time of one launch, in nanoseconds.
    pub min_ns: u64,
    /// Median of the paired ratios of the config's time to the baseline's time, in millionths (1 000 000 is "as fast as
    /// the baseline", less is faster). `None` if the baseline could not be measured.
    pub ratio_ppm: Option<u64>,
}

/// Number of attempts after which a compiler crash, a compile timeout, an internal error or a killed worker is
/// attributed to the config.
pub const ATTEMPTS: u32 = 2;

// Signals with which an operating system, a batch system or a user ends a process.
const SIGHUP: i32 = 1;
const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;

/// The element at which an output differs most from the reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaxError {
    /// Name of the output argument.
    pub output: Box<str>,
    /// Index of the element.
    pub index: u64,
    /// The config's value of the element.
    pub got: Real,
    /// The reference's value of the element.
    pub want: Real,
    /// The absolute difference between the two values.
    pub error: Real,
    /// The largest difference that the tolerance allows for this element.
    pub bound: Real,
    /// The source of the expected value.
    #[serde(default, skip_serializing_if = "Against::is_reference")]
    pub against: Against,
    /// The scalars and inputs that did not have their usual values, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Box<str>>,
}

/// The source of expected outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Against {
    /// A plain-Rust reference. Records of earlier versions have no such field and mean this source.
    #[default]
    Reference,
    /// A launch of the entry that the spec specifies as reference.
    ReferenceEntry,
    /// A launch of the baseline, because there is no reference for the problem.
    Baseline,
}

impl Against {
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference.
    fn is_reference(&self) -> bool {
        *self == Against::Reference
    }
}

impl fmt::Display for Against {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Against::Reference => "reference",
            Against::ReferenceEntry => "reference entry",
            Against::Baseline => "baseline",
        })
    }
}

/// The kinds of fault that a kernel can have while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Two threads access the same memory, and nothing orders the accesses.
    Race,
    /// A read or write outside an argument or shared array.
    OutOfBounds,
    /// Some threads of the block never reach a barrier.
    DivergentBarrier,
    /// Any other fault: a trap, a failed assertion, a stack overflow.
    Other,
}

impl FaultKind {
    /// The kind of a fault according to its text, for example `race: …` or `block (0,0,0) thread (1,0,0): race: …`. The
    /// device's text is stored unchanged; only this function interprets it.
    pub fn of(text: &str) -> FaultKind {
        let kinds = [
            FaultKind::Race,
            FaultKind::OutOfBounds,
            FaultKind::DivergentBarrier,
        ];
        let line = text.lines().next().unwrap_or_default();
        if line.contains("has not waited for its copy_async") {
            return FaultKind::Race;
        }
        let named = |kind: &FaultKind| {
            let begins = line.strip_prefix(kind.name());
            begins.is_some_and(|rest| rest.starts_with(':'))
                || line.contains(&format!("): {}: ", kind.name()))
        };
        kinds.into_iter().find(named).unwrap_or(FaultKind::Other)
    }

    /// A short name of the kind, for tables.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::Race => "race",
            FaultKind::OutOfBounds => "out of bounds",
            FaultKind::DivergentBarrier => "divergent barrier",
            FaultKind::Other => "kernel fault",
        }
    }
}

/// The outcome of one config on one problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// The config's outputs are right, and it was timed. This is the only valid outcome.
    Measured(Summary),
    /// A constraint or a limit of the device excludes the config.
    Rejected {
        /// The constraint as it is written in the spec, or the limit.
        constraint: String,
    },
    /// The compiler reported an error.
    CompileFailed {
        /// First line of the compiler's message.
        first_line: String,
        /// Hash of the whole log.
        log: Hash,
    },
    /// The compiler was stopped after its time limit.
    CompileTimedOut {
        /// The time limit, in nanoseconds.
        limit_ns: u64,
    },
    /// The compiler ended without a result.
    CompilerLost {
        /// How the compiler ended.
        how: String,
        /// Whether the compiler crashed. If not, an external cause ended it.
        crashed: bool,
    },
    /// The driver rejected the launch.
    LaunchRefused {
        /// The driver's reason.
        reason: String,
    },
    /// The device had too little memory.
    OutOfMemory {
        /// Number of bytes that were requested; `None` if it is unknown.
        needed_bytes: Option<u64>,
    },
    /// An output differs from the reference by more than the tolerance.
    Incorrect(MaxError),
    /// An output has a NaN or an infinity where the reference has none.
    NotANumber {
        /// Name of the output argument.
        output: String,
        /// Index of the first such element of the output.
        index: u64,
        /// The scalars and inputs that did not have their usual values, as text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inputs: Option<Box<str>>,
    },
    /// The kernel left an element of an output as it was before the launch.
    Unwritten {
        /// Name of the output argument.
        output: String,
        /// Index of the first such element of the output.
        index: u64,
        /// Number of such elements.
        count: u64,
        /// Number of elements of the output.
        len: u64,
        /// The scalars and inputs that did not have their usual values, as text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inputs: Option<Box<str>>,
    },
    /// An output depends on what it contained before the launch, although it is not declared as `#[inout]`.
    ReadsOutput {
        /// Name of the output argument.
        output: String,
        /// Index of the first element that was found to depend on it.
        index: u64,
    },
    /// A comparison with the expected outputs would say nothing about most elements of an output. This says nothing
    /// about the config.
    NotComparable {
        /// The output and the figures.
        text: String,
    },
    /// The kernel was stopped because of a fault in it (see [`FaultKind`]).
    KernelFault {
        /// The device's complete message.
        text: String,
    },
    /// The kernel wrote outside an output.
    GuardHit {
        /// Name of the output argument.
        output: String,
    },
    /// The kernel changed an input.
    InputChanged {
        /// Name of the input argument.
        arg: String,
    },
    /// The receipt differs from the requested launch.
    WrongLaunch {
        /// The field that differs, for example `block`.
        field: String,
        /// The requested value.
        want: String,
        /// The value in the receipt, which the device wrote.
        got: String,
    },
    /// The launch did not end within its deadline.
    TimedOut {
        /// The deadline, in nanoseconds.
        limit_ns: u64,
    },
    /// The worker process died.
    WorkerLost {
        /// The signal that ended the worker; `None` if there was none.
        signal: Option<i32>,
        /// The last message of the worker or the device; empty in records of earlier versions.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        detail: String,
    },
    /// The device does not respond any more. This says nothing about the config.
    DeviceLost {
        /// The error message.
        text: String,
    },
    /// A disk is full. This says nothing about the config.
    DiskFull {
        /// The file that could not be written, and the system's message.
        text: String,
    },
    /// A header, library or tool that the compiler needs is not installed. This says nothing about the config.
    NotInstalled {
        /// What is missing, and the command that installs it.
        text: String,
    },
    /// The time of the run ended first. This says nothing about the config, and it is not stored.
    OutOfTime,
    /// The measured time is shorter than the device's limits allow, so the measurement is wrong.
    TooFast {
        /// The quantity that exceeds the roofline, for example `GB/s`.
        what: String,
        /// The measured value.
        measured: Real,
        /// The device's peak value.
        peak: Real,
    },
    /// The config is not launched any more, because too many of its launches were strikes (see [`Outcome::is_strike`]).
    Quarantined {
        /// Number of strikes.
        strikes: u32,
    },
    /// Kiln itself failed.
    Internal {
        /// The error message.
        message: String,
    },
}

impl Outcome {
    /// Whether the config was verified and timed, so it may become a winner.
    pub fn is_valid(&self) -> bool {
        matches!(self, Outcome::Measured(_))
    }

    /// Whether the launch counts as a strike: it exhausted the memory, exceeded its deadline, or lost the worker or the
    /// device. The outcome of a config that is already quarantined counts too.
    pub fn is_strike(&self) -> bool {
        matches!(
            self,
            Outcome::OutOfMemory { .. }
                | Outcome::TimedOut { .. }
                | Outcome::WorkerLost { .. }
                | Outcome::DeviceLost { .. }
                | Outcome::Quarantined { .. }
        )
    }

    /// Whether the outcome is final, so later runs do not try the config again. An outcome with an external cause (the
    /// compiler was killed, a header is not installed, the device was lost, a disk is full) is never final. The cause of
    /// a compiler crash, a compile timeout, an internal error or a killed worker may be the config, so such an outcome is
    /// final at attempt number [`ATTEMPTS`]. All other outcomes are final.
    pub fn stands(&self, attempt: u32) -> bool {
        match self {
            Outcome::CompilerLost { crashed: false, .. }
            | Outcome::DeviceLost { .. }
            | Outcome::NotComparable { .. }
            | Outcome::DiskFull { .. }
            | Outcome::NotInstalled { .. }
            | Outcome::OutOfTime => false,
            Outcome::CompilerLost { .. }
            | Outcome::CompileTimedOut { .. }
            | Outcome::Internal { .. } => attempt >= ATTEMPTS,
            // A kernel cannot send these signals itself, but the system may kill its worker because the kernel uses too
            // much memory.
            Outcome::WorkerLost {
                signal: Some(SIGKILL | SIGTERM | SIGHUP),
                ..
            } => attempt >= ATTEMPTS,
            _ => true,
        }
    }

    /// Whether the outcome follows from a comparison with expected outputs.
    pub fn depends_on_reference(&self) -> bool {
        matches!(
            self,
            Outcome::Measured(_)
                | Outcome::Incorrect(_)
                | Outcome::NotANumber { .. }
                | Outcome::TooFast { .. }
        )
    }

    /// The figures of a measured config; `None` for any other outcome.
    pub fn summary(&self) -> Option<&Summary> {
        match self {
            Outcome::Measured(summary) => Some(summary),
            _ => None,
        }
    }

    /// A short name of the outcome, for tables.
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Measured(_) => "measured",
            Outcome::Rejected { .. } => "rejected",
            Outcome::CompileFailed { .. } => "compile failed",
            Outcome::CompileTimedOut { .. } => "compile timed out",
            Outcome::CompilerLost { .. } => "compiler lost",
            Outcome::LaunchRefused { .. } => "launch refused",
            Outcome::OutOfMemory { .. } => "out of memory",
            Outcome::Incorrect(_) => "incorrect",
            Outcome::NotANumber { .. } => "not a number",
            Outcome::Unwritten { .. } => "never written",
            Outcome::ReadsOutput { .. } => "reads an output",
            Outcome::NotComparable { .. } => "not comparable",
            Outcome::KernelFault { text } => FaultKind::of(text).name(),
            Outcome::GuardHit { .. } => "guard hit",
            Outcome::InputChanged { .. } => "input changed",
            Outcome::WrongLaunch { .. } => "wrong launch",
            Outcome::TimedOut { .. } => "timed out",
            Outcome::WorkerLost { .. } => "worker lost",
            Outcome::DeviceLost { .. } => "device lost",
            Outcome::DiskFull { .. } => "disk full",
            Outcome::NotInstalled { .. } => "not installed",
            Outcome::OutOfTime => "out of time",
            Outcome::TooFast { .. } => "too fast",
            Outcome::Quarantined { .. } => "quarantined",
            Outcome::Internal { .. } => "internal error",
        }
    }
}

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;
