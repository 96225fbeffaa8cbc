//! Why a compiled kernel's figures cannot be told.

use kiln_spec::Backend;
use thiserror::Error;

/// Why a compiled kernel's figures cannot be told.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InspectError {
    /// The image is none, or damaged.
    #[error(
        "the image cannot be read: {what}\nhelp: delete the cache of artifacts (`tune cache path`) and compile again"
    )]
    Image {
        /// What is wrong with it.
        what: String,
    },
    /// The image has no such entry.
    #[error(
        "the image has no entry `{symbol}` (it has: {found})\nhelp: it belongs to another kernel; compile again"
    )]
    NotInImage {
        /// The entry.
        symbol: String,
        /// Those that it has.
        found: String,
    },
    /// The log says nothing of the entry.
    #[error("the compiler's log says nothing of `{symbol}`")]
    NotInLog {
        /// The entry.
        symbol: String,
    },
    /// A line of the log is not as expected.
    #[error("the compiler's log has `{line}`, where {expected} should stand")]
    Log {
        /// The line.
        line: String,
        /// What was expected.
        expected: &'static str,
    },
    /// Log and image differ.
    #[error(
        "`{symbol}`: the image says {} {}, the compiler's log says {}\nhelp: log and image are of different builds, or this compiler is newer than Kiln knows; please report it",
        .differs.image, .differs.what, .differs.log
    )]
    Disagree {
        /// The entry.
        symbol: String,
        /// The figure.
        differs: Disagreement,
    },
    /// Programs of that backend are not GPU images.
    #[error(
        "{backend} programs have no registers or shared memory to tell of\nhelp: name a GPU target, such as `--target sm_89`"
    )]
    Backend {
        /// The backend.
        backend: Backend,
    },
}

/// A figure that log and image tell differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// The figure.
    pub what: &'static str,
    /// What the image says.
    pub image: u32,
    /// What the log says.
    pub log: u32,
}

impl InspectError {
    /// An [`InspectError::Image`].
    pub(super) fn image(what: impl std::fmt::Display) -> InspectError {
        InspectError::Image {
            what: what.to_string(),
        }
    }
}
