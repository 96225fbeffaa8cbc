//! Why a file of saved kernels cannot be read or used.

use std::io;

use kiln_spec::TextError;
use thiserror::Error;

/// Why a file of saved kernels cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SavedError {
    /// It is no such file.
    #[error("no file of saved kernels: {0}\nhelp: `tune bench --save FILE` writes one")]
    Other(OtherFile),
    /// It is of another version.
    #[error(
        "a file of version {version}, and this tune reads version {reads}\nhelp: use the tune that wrote it, or save again"
    )]
    Version {
        /// Its version.
        version: u32,
        /// The version that is read.
        reads: u32,
    },
    /// It was one, and is not whole.
    #[error("damaged: {0}\nhelp: take an undamaged copy, or save again with `tune bench --save`")]
    Damaged(#[from] Damage),
    /// It is larger than any that is written.
    #[error(
        "larger than {max_bytes} bytes\nhelp: `tune bench --save FILE` writes files of a few megabytes"
    )]
    TooLarge {
        /// The size of the largest that is read.
        max_bytes: u64,
    },
}

/// Why a file is none of saved kernels.
#[derive(Debug, Error)]
pub enum OtherFile {
    /// It is other JSON, or none.
    #[error(transparent)]
    Json(serde_json::Error),
    /// It says that it is something else.
    #[error("it says `{}`", .format.escape_default())]
    Format {
        /// What it says.
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
    /// Its checksum is another.
    #[error("its checksum is {found}, and {} is written in it", .written.escape_default())]
    Checksum {
        /// Of what it says.
        found: String,
        /// What is written in it.
        written: String,
    },
    /// A text has another hash than it is kept under.
    #[error("text {hash} is another one")]
    Text {
        /// The hash that it is kept under.
        hash: String,
    },
}

/// What a file does not hold.
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

/// Why a saved kernel cannot be compiled any more.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReviveError {
    /// Its declaration cannot be read.
    #[error("its declaration is of another version of Kiln: {0}")]
    Declaration(serde_json::Error),
    /// Its config is none of its declaration.
    #[error(transparent)]
    Config(#[from] TextError),
    /// Its config was changed.
    #[error("its config {config} has another hash than is written")]
    ConfigHash {
        /// The config.
        config: String,
    },
    /// A hash is none.
    #[error("`{}` is not a hash", .text.escape_default())]
    NotAHash {
        /// What is written.
        text: String,
    },
    /// The file lacks something of it.
    #[error(transparent)]
    NotHeld(#[from] NotHeld),
    /// A header would lie outside of the prelude's folder.
    #[error("a header is named `{}`", .name.escape_default())]
    HeaderName {
        /// Its name.
        name: String,
    },
    /// Its prelude was changed.
    #[error("its prelude has another hash than is written")]
    PreludeHash,
}
