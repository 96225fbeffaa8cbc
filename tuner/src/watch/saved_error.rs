//! Errors of reading and using a file of saved kernels.

use std::io;

use kiln_spec::TextError;
use thiserror::Error;

/// Why a file of saved kernels cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SavedError {
    /// It is another kind of file.
    #[error("no file of saved kernels: {0}\nhelp: `tune bench --save FILE` writes one")]
    Other(OtherFile),
    /// It has another version.
    #[error(
        "a file of version {version}, and this tune reads version {reads}\nhelp: use the tune that wrote it, or save again"
    )]
    Version {
        /// Its version.
        version: u32,
        /// The version that this `tune` reads.
        reads: u32,
    },
    /// It is damaged.
    #[error("damaged: {0}\nhelp: take an undamaged copy, or save again with `tune bench --save`")]
    Damaged(#[from] Damage),
    /// It is larger than any file that `tune` writes.
    #[error(
        "larger than {max_bytes} bytes\nhelp: `tune bench --save FILE` writes files of a few megabytes"
    )]
    TooLarge {
        /// Maximum size of a file that is read.
        max_bytes: u64,
    },
}

/// Why a file is not one of saved kernels.
#[derive(Debug, Error)]
pub enum OtherFile {
    /// It is not such JSON, or not JSON at all.
    #[error(transparent)]
    Json(serde_json::Error),
    /// Its format field has another value.
    #[error("it says `{}`", .format.escape_default())]
    Format {
        /// The value.
        format: String,
    },
}

/// How a file is damaged.
#[derive(Debug, Error)]
pub enum Damage {
    /// It cannot be unpacked, or is not text.
    #[error(transparent)]
    Unpack(#[from] io::Error),
    /// It is not JSON, or lacks a field.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// Its checksum is wrong.
    #[error("its checksum is {found}, and {} is written in it", .written.escape_default())]
    Checksum {
        /// The checksum of its content.
        found: String,
        /// The checksum in the file.
        written: String,
    },
    /// A text has another hash than the one it is stored under.
    #[error("text {hash} is another one")]
    Text {
        /// The hash that it is stored under.
        hash: String,
    },
}

/// The missing part of a file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotHeld {
    /// A text.
    #[error("the file holds no text {hash}")]
    Text {
        /// Its hash.
        hash: String,
    },
    /// A prelude.
    #[error("the file holds no prelude {hash}")]
    Prelude {
        /// Its hash.
        hash: String,
    },
}

/// Why a saved kernel can no longer be compiled.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReviveError {
    /// Its declaration cannot be read.
    #[error("its declaration is of another version of Kiln: {0}")]
    Declaration(serde_json::Error),
    /// Its config does not belong to its declaration.
    #[error(transparent)]
    Config(#[from] TextError),
    /// Its config was changed.
    #[error("its config {config} has another hash than is written")]
    ConfigHash {
        /// The config.
        config: String,
    },
    /// A text is not a hash.
    #[error("`{}` is not a hash", .text.escape_default())]
    NotAHash {
        /// The text.
        text: String,
    },
    /// The file lacks a part of it.
    #[error(transparent)]
    NotHeld(#[from] NotHeld),
    /// A header would be outside the prelude's folder.
    #[error("a header is named `{}`", .name.escape_default())]
    HeaderName {
        /// Its name.
        name: String,
    },
    /// Its prelude was changed.
    #[error("its prelude has another hash than is written")]
    PreludeHash,
}
