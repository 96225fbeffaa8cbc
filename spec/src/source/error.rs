//! Errors of a kernel's source.

use std::path::PathBuf;
use std::{fmt, io};

use thiserror::Error;

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file name that the reader uses.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Why a reader cannot return the text of a file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A link that leads out of the package.
    #[error("it is a link to a file outside the package")]
    LinkOutside,
    /// A path that has too many `..`.
    #[error("the path leaves the package")]
    PathOutside,
    /// Bytes that are not UTF-8.
    #[error("it is not UTF-8 text")]
    NotText,
    /// A folder, a pipe or a device.
    #[error("it is not a regular file")]
    NotAFile,
    /// A file that exceeds the reader's limit.
    #[error("it is larger than {limit_bytes} bytes")]
    TooLarge {
        /// The limit.
        limit_bytes: u64,
    },
    /// The path cannot be resolved to a file.
    #[error("{message} ({})", .path.display())]
    Unresolved {
        /// The path.
        path: PathBuf,
        /// The system's message.
        message: String,
    },
    /// The file cannot be read.
    #[error("{message}")]
    Io {
        /// The kind of failure.
        kind: io::ErrorKind,
        /// The system's message.
        message: String,
    },
}

impl ReadError {
    /// The error of a path that cannot be resolved.
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

/// The help for a kernel's source that cannot be read.
fn root_help(error: &ReadError) -> &'static str {
    match error {
        ReadError::LinkOutside | ReadError::PathOutside => {
            "keep the source inside the package, as a file and not as a link, so that its hash covers it"
        }
        ReadError::NotText => "save the file as UTF-8",
        _ => "`source = \"..\"` is relative to the file that declares the kernel",
    }
}

/// Why a source cannot be expanded or scanned.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The source itself cannot be read.
    #[error(
        "cannot read kernel source `{name}`: {error}\nhelp: {}", root_help(.error)
    )]
    Root {
        /// Its name.
        name: String,
        /// Why it cannot be read.
        error: ReadError,
    },
    /// An included file cannot be read.
    #[error(
        "{at}: cannot read included file `{name}`: {error}\nhelp: Kiln inlines `#include \"..\"` so that it can hash it; write a system header as `#include <..>`"
    )]
    Include {
        /// The missing file.
        name: String,
        /// The place of the include.
        at: Location,
        /// Why it cannot be read.
        error: ReadError,
    },
    /// An include that leaves the package or has an absolute path.
    #[error(
        "{at}: `#include \"{path}\"` leaves the package\nhelp: keep included files inside the package, so that its hash covers them"
    )]
    Outside {
        /// The path as written.
        path: String,
        /// The place of the include.
        at: Location,
    },
    /// An include whose file is known only to the preprocessor.
    #[error(
        "{at}: `#include` of a macro is not supported\nhelp: name the file, so that the source's hash covers it"
    )]
    Computed {
        /// Its place.
        at: Location,
    },
    /// A file that includes itself without a guard.
    #[error("{at}: `{name}` includes itself: {chain}\nhelp: add `#pragma once` to `{name}`")]
    Cycle {
        /// The file.
        name: String,
        /// The files on the way, joined by arrows.
        chain: String,
        /// The place at which the cycle closes.
        at: Location,
    },
    /// Includes nested too deeply.
    #[error(
        "{at}: includes are nested more than {limit} deep\nhelp: a file that includes itself over others needs `#pragma once`"
    )]
    TooDeep {
        /// The place at which the limit is exceeded.
        at: Location,
        /// The limit.
        limit: usize,
    },
    /// An expanded source that is too large.
    #[error(
        "the expanded source of `{name}` is larger than {limit} bytes\nhelp: include with `#include <..>` what is not the kernel's own"
    )]
    TooLarge {
        /// The root file.
        name: String,
        /// The limit in bytes.
        limit: usize,
    },
    /// A zero byte, which no source may contain.
    #[error("{at}: the source holds a NUL byte\nhelp: a kernel source is UTF-8 text")]
    Nul {
        /// Its place.
        at: Location,
    },
    /// A comment or literal without an end.
    #[error("{at}: unterminated {what}")]
    Unterminated {
        /// The unterminated item.
        what: &'static str,
        /// The place where it begins.
        at: Location,
    },
    /// Conditionals that do not match.
    #[error("{at}: {what}")]
    Conditional {
        /// The mistake.
        what: &'static str,
        /// Its place.
        at: Location,
    },
}
