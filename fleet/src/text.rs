//! Checks of text fields in plans, segment headers and statements.

/// Longest text of a field, in bytes. Records of the journal have the same limit.
pub(crate) const MAX_TEXT: usize = 4096;

/// Whether `text` has 1 to [`MAX_TEXT`] bytes and no control characters.
pub(crate) fn is_plain(text: &str) -> bool {
    !text.is_empty() && is_plain_or_empty(text)
}

/// Whether `text` has at most [`MAX_TEXT`] bytes and no control characters.
pub(crate) fn is_plain_or_empty(text: &str) -> bool {
    text.len() <= MAX_TEXT && !text.chars().any(char::is_control)
}

/// Whether `text` is a hexadecimal number of exactly `digits` lower-case digits.
pub(crate) fn is_hex(text: &str, digits: usize) -> bool {
    let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    text.len() == digits && text.bytes().all(hex)
}

/// Reads a number of 16 lower-case hexadecimal digits; `None` for any other text.
pub(crate) fn hex_u64(text: &str) -> Option<u64> {
    if is_hex(text, 16) {
        u64::from_str_radix(text, 16).ok()
    } else {
        None
    }
}
