//! [`CompileError`], the reason why a source text was not compiled.

use std::fmt;
use std::time::Duration;

use kiln_spec::time::Nanoseconds;
use thiserror::Error;

use crate::compiler::log::{self, MissingHeader};

/// The reason why a source text was not compiled.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CompileError {
    /// No compiler, or only a part of a compiler, is installed.
    #[error("{what} was not found ({looked})\nhelp: {help}")]
    NotFound {
        /// The missing program or part.
        what: String,
        /// The places that were searched.
        looked: String,
        /// What to install or set.
        help: String,
    },
    /// The compiler does not support the requested build.
    #[error("{what} is not supported\nhelp: {help}")]
    Unsupported {
        /// The unsupported build.
        what: String,
        /// What the user can do instead.
        help: String,
    },
    /// The compiler rejected the source.
    #[error("`{name}` does not compile: {}", log::summary(log))]
    Failed {
        /// The name in the request, usually the symbol of the entry.
        name: String,
        /// The compiler's command or its list of options.
        options: Vec<String>,
        /// The compiler's log.
        log: String,
    },
    /// A header of the compiler's vendor is not installed, or its version does not fit. The source is not to blame.
    #[error(
        "`{name}` cannot be compiled because {what}: {}\nhelp: {help}",
        log::first_error(log)
    )]
    MissingHeader {
        /// The name in the request, usually the symbol of the entry.
        name: String,
        /// What is missing, such as "`crt/mma.h` is not installed".
        what: String,
        /// The command that installs it.
        help: String,
        /// The compiler's log.
        log: String,
    },
    /// The compiler was killed at its deadline.
    #[error("`{name}` was not compiled within {}", Nanoseconds::from(*deadline))]
    TimedOut {
        /// The name in the request, usually the symbol of the entry.
        name: String,
        /// The compiler's command or its list of options.
        options: Vec<String>,
        /// The time limit of the compile.
        deadline: Duration,
        /// The compiler's log up to the deadline.
        log: String,
    },
    /// The compiler needed more memory than it was allowed.
    #[error("`{name}` needs more than {memory_bytes} bytes to compile")]
    OutOfMemory {
        /// The name in the request, usually the symbol of the entry.
        name: String,
        /// The compiler's command or its list of options.
        options: Vec<String>,
        /// The limit, in bytes.
        memory_bytes: u64,
        /// The compiler's log.
        log: String,
    },
    /// The compiler ended without a verdict on the source: it was killed, it crashed, or the machine lacked a
    /// resource.
    #[error("the compiler of `{name}` came to no verdict: {how}")]
    Lost {
        /// The name in the request, usually the symbol of the entry.
        name: String,
        /// The compiler's command or its list of options.
        options: Vec<String>,
        /// How the compiler ended.
        how: String,
        /// Whether the compiler itself crashed, which the same source may cause again. Otherwise, something outside
        /// ended it.
        crashed: bool,
        /// The compiler's log up to its end.
        log: String,
    },
    /// An operation on a file or a process failed.
    #[error("{what} failed: {text}")]
    Io {
        /// The operation that failed.
        what: String,
        /// The system's error.
        text: String,
    },
}

impl CompileError {
    /// The [`CompileError::MissingHeader`] of a request with this name, whose compile left this log.
    pub(crate) fn missing_header(
        missing: MissingHeader,
        name: String,
        log: String,
    ) -> CompileError {
        let MissingHeader { what, help } = missing;
        CompileError::MissingHeader {
            name,
            what,
            help,
            log,
        }
    }

    /// A [`CompileError::Io`] for a failed operation.
    pub fn io(what: &str, error: impl fmt::Display) -> CompileError {
        CompileError::Io {
            what: what.into(),
            text: error.to_string(),
        }
    }
}

/// Whether a signal means that the compiler itself crashed (ILL, TRAP, ABRT, BUS, FPE, SEGV or SYS). All other
/// signals come from outside.
pub fn is_of_a_crash(signal: i32) -> bool {
    [4, 5, 6, 7, 8, 11, 31].contains(&signal)
}
