//! Errors of compiling for targets that this machine does not have.

use kiln::compiler::CompileError;
use kiln_spec::TextError;
use kiln_spec::space::SpaceError;
use thiserror::Error;

/// Why nothing can be compiled for such a target.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TargetError {
    /// The target's compiler is not installed.
    #[error(transparent)]
    NoCompiler(CompileError),
    /// No compiler of any target is installed.
    #[error("{}", .missing.join("\nerror: "))]
    NoneOfThem {
        /// What each target lacks.
        missing: Vec<String>,
    },
    /// A text is not a config or problem of the kernel.
    #[error("{kernel}: {error}")]
    Text {
        /// The kernel.
        kernel: String,
        /// Why it is not.
        error: TextError,
    },
    /// The search space cannot be built, so it has no corners.
    #[error("{kernel}: {error}")]
    Space {
        /// The kernel.
        kernel: String,
        /// Why it cannot be built.
        error: SpaceError,
    },
}
