//! What can be wrong with a recording.

use std::path::PathBuf;

use thiserror::Error;

/// Why a file is no recording.
#[derive(Debug, Error)]
#[error("{}{}: {reason}\nhelp: {help}", .path.display(), .line.map_or(String::new(), |line| format!(":{line}")))]
pub struct RecordingError {
    /// The file.
    pub path: PathBuf,
    /// The line, where one is to blame.
    pub line: Option<usize>,
    /// What is wrong, with the field.
    pub reason: String,
    /// What to do.
    pub help: String,
}

/// What is wrong, before the file is named.
#[derive(Debug)]
pub(super) struct Fault {
    /// A piece of text that stands in the line to blame.
    pub(super) near: Option<String>,
    pub(super) line: Option<usize>,
    pub(super) reason: String,
}

impl Fault {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self {
            near: None,
            line: None,
            reason: reason.into(),
        }
    }

    /// A fault of the entry with this key.
    pub(super) fn at(key: &str, reason: impl AsRef<str>) -> Self {
        Self {
            near: Some(format!("\"{key}\"")),
            line: None,
            reason: format!("`{key}`: {}", reason.as_ref()),
        }
    }

    pub(super) fn json(error: &serde_json::Error) -> Self {
        Self {
            near: None,
            line: Some(error.line()),
            reason: format!("no recording: {error}"),
        }
    }

    /// The line to blame in the file's text.
    pub(super) fn line_in(&self, text: &str) -> Option<usize> {
        let place = || text.find(self.near.as_deref()?);
        self.line
            .or_else(|| Some(text[..place()?].matches('\n').count() + 1))
    }
}
