//! Errors of reading the resources of compiled kernels.

use kiln_spec::Backend;
use thiserror::Error;

/// Why the resources of a compiled kernel cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InspectError {
    /// The image is damaged, or the file is not an image.
    #[error(
        "the image cannot be read: {what}\nhelp: delete the cache of artifacts (`tune cache path`) and compile again"
    )]
    Image {
        /// A description of the fault.
        what: String,
    },
    /// The image does not contain the entry.
    #[error(
        "the image has no entry `{symbol}` (it has: {found})\nhelp: it belongs to another kernel; compile again"
    )]
    NotInImage {
        /// The entry that was looked up.
        symbol: String,
        /// The entries that the image contains.
        found: String,
    },
    /// The compiler's log does not mention the entry.
    #[error("the compiler's log says nothing about `{symbol}`")]
    NotInLog {
        /// The entry that was looked up.
        symbol: String,
    },
    /// A line of the log does not have the expected form.
    #[error("the compiler's log has `{line}`, but {expected} is expected there")]
    Log {
        /// The text of the line.
        line: String,
        /// The expected form.
        expected: &'static str,
    },
    /// The log and the image report different values.
    #[error(
        "`{symbol}`: the image says {} {}, but the compiler's log says {}\n\
         help: the log and the image belong to different builds, or Kiln does not know this new compiler; please \
         report it",
        .differs.image, .differs.what, .differs.log
    )]
    Disagree {
        /// The name of the entry.
        symbol: String,
        /// The figure that differs.
        differs: Disagreement,
    },
    /// Programs of this backend are not GPU images, so they have no such resources.
    #[error(
        "{backend} programs have no registers or shared memory to report\n\
         help: name a GPU target, such as `--target sm_89`"
    )]
    Backend {
        /// The backend.
        backend: Backend,
    },
}

/// A figure for which the log and the image report different values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// The name of the figure.
    pub what: &'static str,
    /// The value in the image.
    pub image: u32,
    /// The value in the log.
    pub log: u32,
}

impl InspectError {
    /// Creates an [`InspectError::Image`].
    pub(super) fn image(what: impl std::fmt::Display) -> InspectError {
        InspectError::Image {
            what: what.to_string(),
        }
    }
}
