//! Computes line numbers in the text of a file, for messages.

/// The number, from 1, of the line on which `part` begins. `part` must be a slice of `text`.
pub(crate) fn line_of(text: &str, part: &str) -> usize {
    line_at(text, offset_of(text, part))
}

/// The offset of `part` in `text`, in bytes. `part` must be a slice of `text`.
pub(crate) fn offset_of(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

/// The number, from 1, of the line that contains the byte at `offset`. The text is scanned from its beginning, so call
/// this only for messages.
pub(crate) fn line_at(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().get(..offset).unwrap_or_default();
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}

/// The message of the JSON reader without its position. The position would be wrong, because it is relative to the
/// slice that was parsed.
pub(crate) fn without_position(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.split(" at line ").next().unwrap_or_default().into()
}
