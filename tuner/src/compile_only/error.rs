//! Why nothing can be compiled for targets that are not here.

use kiln::compiler::CompileError;
use kiln_spec::TextError;
use kiln_spec::space::SpaceError;
use thiserror::Error;

/// Why nothing can be compiled for targets that are not here.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TargetError {
    /// The target's compiler is not installed.
    #[error(transparent)]
    NoCompiler(CompileError),
    /// No compiler of any target is installed.
    #[error("{}", .missing.join("\nerror: "))]
    NoneOfThem {
        /// What is missing for each.
        missing: Vec<String>,
    },
    /// A config or problem is none of a kernel.
    #[error("{kernel}: {error}")]
    Text {
        /// The kernel.
        kernel: String,
        /// Why not.
        error: TextError,
    },
    /// The corners of a search space that cannot be built.
    #[error("{kernel}: {error}")]
    Space {
        /// The kernel.
        kernel: String,
        /// Why not.
        error: SpaceError,
    },
}
