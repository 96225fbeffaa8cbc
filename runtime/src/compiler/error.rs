//! Errors of compiling a source text.

use std::fmt;
use std::time::Duration;

use kiln_spec::time::Nanoseconds;
use thiserror::Error;

use crate::compiler::log;

/// Why a source text was not compiled.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CompileError {
    /// No compiler, or a part of it, is installed.
    #[error("{what} was not found ({looked})\nhelp: {help}")]
    NotFound {
        /// The missing program or part.
        what: String,
        /// The places that were searched.
        looked: String,
        /// What to install or set.
        help: String,
    },
    /// The compiler cannot make such a build.
    #[error("{what} is not supported\nhelp: {help}")]
    Unsupported {
        /// The requested build.
        what: String,
        /// What to do instead.
        help: String,
    },
    /// The compiler rejected the source.
    #[error("`{name}` does not compile: {}", log::summary(log))]
    Failed {
        /// The request's name.
        name: String,
        /// The command or option list.
        options: Vec<String>,
        /// The compiler's log.
        log: String,
    },
    /// The compiler was killed at its deadline.
    #[error("`{name}` was not compiled within {}", Nanoseconds::from(*deadline))]
    TimedOut {
        /// The request's name.
        name: String,
        /// The command or option list.
        options: Vec<String>,
        /// The deadline.
        deadline: Duration,
        /// The log until then.
        log: String,
    },
    /// The compiler needed more memory than it was allowed.
    #[error("`{name}` needs more than {memory_bytes} bytes to compile")]
    OutOfMemory {
        /// The request's name.
        name: String,
        /// The command or option list.
        options: Vec<String>,
        /// The limit, in bytes.
        memory_bytes: u64,
        /// The compiler's log.
        log: String,
    },
    /// The compiler ended without a verdict: killed, crashed, or out of a resource of the machine.
    #[error("the compiler of `{name}` came to no verdict: {how}")]
    Lost {
        /// The request's name.
        name: String,
        /// The command or option list.
        options: Vec<String>,
        /// How it ended.
        how: String,
        /// Whether it crashed, which the source may cause again; otherwise something outside ended it.
        crashed: bool,
        /// The log until then.
        log: String,
    },
    /// A file or process operation failed.
    #[error("{what} failed: {text}")]
    Io {
        /// The operation.
        what: String,
        /// The system's error.
        text: String,
    },
}

impl CompileError {
    /// A [`CompileError::Io`] of a failed operation.
    pub fn io(what: &str, error: impl fmt::Display) -> CompileError {
        CompileError::Io {
            what: what.into(),
            text: error.to_string(),
        }
    }
}

/// Whether a signal means that the compiler itself crashed: ILL, TRAP, ABRT, BUS, FPE, SEGV or SYS. All others come
/// from outside.
pub fn is_of_a_crash(signal: i32) -> bool {
    [4, 5, 6, 7, 8, 11, 31].contains(&signal)
}
