//! Checks of text fields in records.

use super::error::{MAX_TEXT, RecordError};

/// Checks that a text has at most [`MAX_TEXT`] bytes and no control characters. Only a config and a problem may be
/// empty, because a kernel may have no parameters and a problem no sizes.
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
