//! Why a candidate cannot be compared, checked or run at all.

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
    /// What became of it.
    pub outcome: Outcome,
}

/// Why candidates are not run in a checking build.
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
    /// The author leaves the cpu out.
    #[error("{why}")]
    LeftOut {
        /// The reason, as the spec tells it.
        why: String,
    },
    /// The cpu would take too long for the tuned problem.
    #[error("it has only its tuned problem; declare small ones with `verify(..)`")]
    NoSmallProblem,
    /// The candidate or the baseline came to nothing that is its own fault: it does not compile for the cpu, say.
    #[error("{0}")]
    Outcome(Outcome),
    /// There is nothing to compare with on the cpu.
    #[error(transparent)]
    Oracle(#[from] OracleError),
}

/// Why a problem's data is not put on a device.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FootprintError {
    /// Its size has no value.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// It does not fit.
    #[error("its data takes {bytes} bytes, the device has room for {room}")]
    TooLarge {
        /// What it takes.
        bytes: u64,
        /// Nine tenths of the device's memory.
        room: u64,
    },
}
