//! Texts of records.

use super::error::{MAX_TEXT, RecordError};

/// A name-like text: no control characters, at most [`MAX_TEXT`] bytes. A kernel without parameters
/// has an empty config, a problem without sizes an empty problem.
pub(super) fn plain_text(field: &'static str, text: &str) -> Result<(), RecordError> {
    let may_be_empty = matches!(field, "config" | "problem");
    let empty = text.is_empty() && !may_be_empty;
    if empty || text.len() > MAX_TEXT || text.chars().any(char::is_control) {
        return Err(RecordError::Text {
            field,
            bytes: text.len(),
        });
    }
    Ok(())
}
