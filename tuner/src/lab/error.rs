//! Errors of the oracle, of checks, and of problems that are too large.

use kiln::DeviceError;
use kiln::compiler::CompileError;
use kiln_cache::Outcome;
use kiln_spec::PlanError;
use thiserror::Error;

/// The entry that a spec names as reference cannot be launched.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "the reference entry `{entry}` does not work: {outcome}\nhelp: outputs are compared with it: it must compile \
     and be launched as the baseline is"
)]
pub struct OracleError {
    /// The entry.
    pub entry: String,
    /// Its outcome.
    pub outcome: Outcome,
}

/// Why candidates are not run in a check build.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotChecked {
    /// The fake device compiles nothing.
    #[error("the fake device runs no source")]
    Fake,
    /// The cpu device does not open.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The cpu device has no compiler.
    #[error(transparent)]
    Compiler(#[from] CompileError),
    /// The spec excludes the cpu.
    #[error("{why}")]
    LeftOut {
        /// The reason that the spec gives.
        why: String,
    },
    /// The tuned problem would take the cpu too long, and the kernel has no small ones.
    #[error("it has only its tuned problem; declare small ones with `verify(..)`")]
    NoSmallProblem,
    /// The check build of the candidate or the baseline failed for a reason that is not its fault: it does not
    /// compile for the cpu, say.
    #[error("{0}")]
    Outcome(Outcome),
    /// The cpu has nothing to compare with.
    #[error(transparent)]
    Oracle(#[from] OracleError),
}

/// Why the data of a problem does not go to a device.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FootprintError {
    /// The size of the data has no value.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// It does not fit.
    #[error("its data takes {bytes} bytes, the device has room for {room}")]
    TooLarge {
        /// The size of the data.
        bytes: u64,
        /// Nine tenths of the device's memory.
        room: u64,
    },
}
