//! Errors of reading, expanding and scanning a kernel's source.

use std::path::PathBuf;
use std::{fmt, io};

use thiserror::Error;

/// A file and line of a kernel's source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The name of the file, as the reader receives it.
    pub file: String,
    /// The line number, from 1.
    pub line: u32,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The reason why a reader cannot return the text of a file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The path is a link that leads out of the package.
    #[error("it is a link to a file outside the package")]
    LinkOutside,
    /// The path leaves the package through `..`.
    #[error("the path leaves the package")]
    PathOutside,
    /// The file is not UTF-8 text.
    #[error("it is not UTF-8 text")]
    NotText,
    /// The path is not that of a regular file but, for example, of a folder, a pipe or a device.
    #[error("it is not a regular file")]
    NotAFile,
    /// The file is larger than the reader allows.
    #[error("it is larger than {limit_bytes} bytes")]
    TooLarge {
        /// The reader's limit in bytes.
        limit_bytes: u64,
    },
    /// The path cannot be resolved to a file.
    #[error("{message} ({})", .path.display())]
    Unresolved {
        /// The path.
        path: PathBuf,
        /// The message of the operating system.
        message: String,
    },
    /// The file exists but cannot be read.
    #[error("{message}")]
    Io {
        /// The kind of failure.
        kind: io::ErrorKind,
        /// The message of the operating system.
        message: String,
    },
}

impl ReadError {
    /// The error for a path that the operating system cannot resolve.
    pub fn unresolved(path: impl Into<PathBuf>, error: &io::Error) -> ReadError {
        ReadError::Unresolved {
            path: path.into(),
            message: error.to_string(),
        }
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> ReadError {
        ReadError::Io {
            kind: error.kind(),
            message: error.to_string(),
        }
    }
}

/// The help text for a `.cu` file that cannot be read.
fn root_help(error: &ReadError) -> &'static str {
    match error {
        ReadError::LinkOutside | ReadError::PathOutside => {
            "keep the source inside the package, as a file and not as a link, so that its hash covers it"
        }
        ReadError::NotText => "save the file as UTF-8",
        _ => "`source = \"..\"` is relative to the file that declares the kernel",
    }
}

/// The reason why a source cannot be expanded or scanned.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The `.cu` file cannot be read.
    #[error(
        "cannot read kernel source `{name}`: {error}\nhelp: {}", root_help(.error)
    )]
    Root {
        /// The name of the file.
        name: String,
        /// Why the file cannot be read.
        error: ReadError,
    },
    /// An included file cannot be read.
    #[error(
        "{at}: cannot read included file `{name}`: {error}\nhelp: Kiln inlines `#include \"..\"` so that it can hash it; write a system header as `#include <..>`"
    )]
    Include {
        /// The name of the included file.
        name: String,
        /// The file and line of the `#include`.
        at: Location,
        /// Why the file cannot be read.
        error: ReadError,
    },
    /// An `#include` has an absolute path or a path that leaves the package.
    #[error(
        "{at}: `#include \"{path}\"` leaves the package\nhelp: keep included files inside the package, so that its hash covers them"
    )]
    Outside {
        /// The path as written.
        path: String,
        /// The file and line of the `#include`.
        at: Location,
    },
    /// The file name of an `#include` is a macro, which only the preprocessor can expand.
    #[error(
        "{at}: `#include` of a macro is not supported\nhelp: name the file, so that the source's hash covers it"
    )]
    Computed {
        /// The file and line of the `#include`.
        at: Location,
    },
    /// The source contains `#embed`, whose file the source's hash would not cover.
    #[error(
        "{at}: `#embed` is not supported, because the hash of the source would not cover the file\n\
         help: write the numbers into a header of the package"
    )]
    Embed {
        /// The file and line of the `#embed`.
        at: Location,
    },
    /// A condition asks whether the compiler sees every access, so the check build would check other code than programs
    /// launch.
    #[error(
        "{at}: the condition asks for the thread sanitizer, which Kiln uses to check kernels\n\
         help: remove the condition: Kiln must check the code that programs launch"
    )]
    Sanitizer {
        /// The file and line of the condition.
        at: Location,
    },
    /// A file includes itself, directly or through other files, without an include guard.
    #[error("{at}: `{name}` includes itself: {chain}\nhelp: add `#pragma once` to `{name}`")]
    Cycle {
        /// The name of the file.
        name: String,
        /// The files of the cycle, joined by arrows.
        chain: String,
        /// The file and line of the `#include` that closes the cycle.
        at: Location,
    },
    /// Includes are nested too deeply.
    #[error(
        "{at}: includes are nested more than {limit} deep\n\
         help: a file that includes itself through other files needs `#pragma once`"
    )]
    TooDeep {
        /// The file and line of the `#include` that exceeds the limit.
        at: Location,
        /// The maximum nesting depth.
        limit: usize,
    },
    /// The expanded source is too large.
    #[error(
        "the expanded source of `{name}` is larger than {limit} bytes\n\
         help: include files that are not the kernel's own with `#include <..>`"
    )]
    TooLarge {
        /// The name of the `.cu` file.
        name: String,
        /// The maximum size in bytes.
        limit: usize,
    },
    /// The source contains a NUL byte.
    #[error("{at}: the source contains a NUL byte\nhelp: a kernel source is UTF-8 text")]
    Nul {
        /// The file and line of the NUL byte.
        at: Location,
    },
    /// A comment or a literal does not end.
    #[error("{at}: unterminated {what}")]
    Unterminated {
        /// A description of the comment or literal.
        what: &'static str,
        /// The file and line where the comment or literal begins.
        at: Location,
    },
    /// An `#if`, `#else`, `#elif` or `#endif` has no partner.
    #[error("{at}: {what}")]
    Conditional {
        /// A description of the mistake.
        what: &'static str,
        /// The file and line of the directive.
        at: Location,
    },
}
