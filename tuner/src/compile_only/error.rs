//! Errors of compiling for targets without a device.

use kiln::compiler::CompileError;
use kiln_spec::TextError;
use kiln_spec::space::SpaceError;
use thiserror::Error;

use kiln_search::UnknownStrategy;

/// Why nothing can be compiled for a target.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TargetError {
    /// The target's compiler is not installed.
    #[error(transparent)]
    NoCompiler(CompileError),
    /// None of the requested targets has an installed compiler.
    #[error("{}", .missing.join("\nerror: "))]
    NoneOfThem {
        /// The different messages that say which compiler is missing.
        missing: Vec<String>,
    },
    /// The text from the command line is not a config or a problem of the kernel.
    #[error("{kernel}: {error}")]
    Text {
        /// The name of the kernel.
        kernel: String,
        /// Why the text is not valid.
        error: TextError,
    },
    /// The search space cannot be built, so no configs can be chosen from it.
    #[error("{kernel}: {error}")]
    Space {
        /// The name of the kernel.
        kernel: String,
        /// Why the space cannot be built.
        error: SpaceError,
    },
    /// No search strategy has the requested name.
    #[error(transparent)]
    Strategy(#[from] UnknownStrategy),
}
