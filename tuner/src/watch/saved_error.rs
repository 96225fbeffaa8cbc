//! Errors of reading and using a file of saved kernels.

use std::io;

use kiln_spec::TextError;
use thiserror::Error;

/// Why a file of saved kernels cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SavedError {
    /// The file is of another kind.
    #[error("not a file of saved kernels: {0}\nhelp: `tune bench --save FILE` writes one")]
    Other(OtherFile),
    /// The file has another version.
    #[error(
        "a file of version {version}, but this `tune` reads version {reads}\n\
         help: use the `tune` that wrote it, or save again"
    )]
    Version {
        /// The version of the file.
        version: u32,
        /// The version that this `tune` reads.
        reads: u32,
    },
    /// The file is damaged.
    #[error("damaged: {0}\nhelp: take an undamaged copy, or save again with `tune bench --save`")]
    Damaged(#[from] Damage),
    /// The file is larger than any file that `tune` writes.
    #[error(
        "larger than {max_bytes} bytes\nhelp: `tune bench --save FILE` writes files of a few megabytes"
    )]
    TooLarge {
        /// Maximum size of a file that is read, in bytes.
        max_bytes: u64,
    },
}

/// Why a file is not a file of saved kernels.
#[derive(Debug, Error)]
pub enum OtherFile {
    /// The file is not JSON, or the JSON lacks the fields of such a file.
    #[error(transparent)]
    Json(serde_json::Error),
    /// The field `format` has another value.
    #[error("its format is `{}`", .format.escape_default())]
    Format {
        /// The value of the field.
        format: String,
    },
}

/// How a file is damaged.
#[derive(Debug, Error)]
pub enum Damage {
    /// The file cannot be decompressed, or is not UTF-8 text.
    #[error(transparent)]
    Unpack(#[from] io::Error),
    /// The file is not valid JSON, or lacks a field.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The checksum in the file does not match the content.
    #[error("its checksum is {found}, but the file says {}", .written.escape_default())]
    Checksum {
        /// The checksum of the content.
        found: String,
        /// The checksum in the file.
        written: String,
    },
    /// A text does not have the hash under which it is stored.
    #[error("the text that is stored as {hash} has another hash")]
    Text {
        /// The hash under which the text is stored.
        hash: String,
    },
}

/// A part that is missing from a file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotHeld {
    /// A text is missing.
    #[error("the file does not contain text {hash}")]
    Text {
        /// The hash of the text.
        hash: String,
    },
    /// A prelude is missing.
    #[error("the file does not contain prelude {hash}")]
    Prelude {
        /// The hash of the prelude.
        hash: String,
    },
}

/// Why a saved kernel can no longer be compiled.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReviveError {
    /// The saved declaration cannot be parsed.
    #[error("its declaration is of another version of Kiln: {0}")]
    Declaration(serde_json::Error),
    /// The saved config is not valid for the declaration.
    #[error(transparent)]
    Config(#[from] TextError),
    /// The saved config does not have the saved hash.
    #[error("its config {config} does not have the hash that the file says")]
    ConfigHash {
        /// The config, as text.
        config: String,
    },
    /// The text is not a hash.
    #[error("`{}` is not a hash", .text.escape_default())]
    NotAHash {
        /// The text.
        text: String,
    },
    /// The file lacks a part of the kernel.
    #[error(transparent)]
    NotHeld(#[from] NotHeld),
    /// The name of a header is a path outside the prelude's folder.
    #[error("a header is named `{}`", .name.escape_default())]
    HeaderName {
        /// The name of the header.
        name: String,
    },
    /// The saved prelude does not have the saved hash.
    #[error("its prelude does not have the hash that the file says")]
    PreludeHash,
}
