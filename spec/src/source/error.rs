//! What can be wrong with a kernel's source.

use std::fmt;

use thiserror::Error;

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file, as the reader knows it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A reader's reason: a path that leads out of the package over a link.
pub const OUTSIDE: &str = "it is a link to a file outside the package";
/// A reader's reason: bytes that are not text.
pub const NOT_TEXT: &str = "it is not UTF-8 text";
/// Why a source whose path has too many `..` is not read.
pub(super) const LEAVES: &str = "the path leaves the package";

/// What helps with a reader's reason for not reading a kernel's source.
fn root_help(message: &str) -> &'static str {
    match message {
        OUTSIDE | LEAVES => {
            "keep the source inside the package, as a file and not as a link, so that its hash covers it"
        }
        NOT_TEXT => "save the file as UTF-8",
        _ => "`source = \"..\"` is relative to the file that declares the kernel",
    }
}

/// Why a source cannot be expanded or scanned.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The source itself cannot be read.
    #[error(
        "cannot read kernel source `{name}`: {message}\nhelp: {}", root_help(.message)
    )]
    Root {
        /// Its name.
        name: String,
        /// The reader's reason.
        message: String,
    },
    /// An included file cannot be read.
    #[error(
        "{at}: cannot read included file `{name}`: {message}\nhelp: Kiln inlines `#include \"..\"` so that it can hash it; write a system header as `#include <..>`"
    )]
    Include {
        /// The file that is missing.
        name: String,
        /// Where it is included.
        at: Location,
        /// The reader's reason.
        message: String,
    },
    /// An include that leaves the package or names an absolute path.
    #[error(
        "{at}: `#include \"{path}\"` leaves the package\nhelp: keep included files inside the package, so that its hash covers them"
    )]
    Outside {
        /// The path as written.
        path: String,
        /// Where it is included.
        at: Location,
    },
    /// An include whose file only the preprocessor knows.
    #[error(
        "{at}: `#include` of a macro is not supported\nhelp: name the file, so that the source's hash covers it"
    )]
    Computed {
        /// Where it is.
        at: Location,
    },
    /// A file that includes itself without a guard.
    #[error("{at}: `{name}` includes itself: {chain}\nhelp: add `#pragma once` to `{name}`")]
    Cycle {
        /// The file.
        name: String,
        /// The files on the way, joined by arrows.
        chain: String,
        /// Where the cycle closes.
        at: Location,
    },
    /// Includes nested too deeply.
    #[error(
        "{at}: includes are nested more than {limit} deep\nhelp: a file that includes itself over others needs `#pragma once`"
    )]
    TooDeep {
        /// Where the limit is passed.
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
    /// A byte that no source holds.
    #[error("{at}: the source holds a NUL byte\nhelp: a kernel source is UTF-8 text")]
    Nul {
        /// Where it is.
        at: Location,
    },
    /// A comment or literal without an end.
    #[error("{at}: unterminated {what}")]
    Unterminated {
        /// What is not terminated.
        what: &'static str,
        /// Where it begins.
        at: Location,
    },
    /// Conditionals that do not match.
    #[error("{at}: {what}")]
    Conditional {
        /// What is wrong.
        what: &'static str,
        /// Where it is.
        at: Location,
    },
}
