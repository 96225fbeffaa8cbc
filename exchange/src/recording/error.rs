//! What can be wrong with a recording.

use std::path::PathBuf;

use thiserror::Error;

use crate::lines::line_of;

/// Why a file is not a recording.
#[derive(Debug, Error)]
#[error("{}{}: {reason}\nhelp: {help}", .path.display(), .line.map_or(String::new(), |line| format!(":{line}")))]
pub struct RecordingError {
    /// The file.
    pub path: PathBuf,
    /// The line; none where the file could not be read as text.
    pub line: Option<usize>,
    /// What is wrong, with the field.
    pub reason: String,
    /// What to do.
    pub help: String,
}

/// What is wrong with the text of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {reason}")]
pub struct TextFault {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong, with the field.
    pub reason: String,
}

impl TextFault {
    /// A fault of the part of the text that begins at `part`.
    pub(crate) fn at(text: &str, part: &str, reason: impl Into<String>) -> Self {
        Self {
            line: line_of(text, part),
            reason: reason.into(),
        }
    }

    /// A fault of a field that stands in the text, if it does.
    pub(crate) fn field(text: &str, field: &str, reason: &str) -> Self {
        let place = text.find(&format!("\"{field}\"")).unwrap_or_default();
        let part = text.get(place..).unwrap_or_default();
        Self::at(text, part, format!("field `{field}`: {reason}"))
    }

    /// What the JSON reader says of the part of the text that is field `field`.
    pub(crate) fn json(text: &str, part: &str, field: &str, error: &serde_json::Error) -> Self {
        let said = error.to_string();
        let said = said.split(" at line ").next().unwrap_or_default();
        // What follows the part in the file is not the part's fault.
        let lines = error.line().saturating_sub(1);
        Self {
            line: line_of(text, part) + lines,
            reason: format!("{field}: {said}"),
        }
    }
}
