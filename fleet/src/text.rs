//! Texts of plans, headers and statements.

/// Longest text of a name-like field, in bytes: that of a record of the journal.
pub(crate) const MAX_TEXT: usize = 4096;

/// Whether a text has 1 to [`MAX_TEXT`] bytes and no control characters.
pub(crate) fn is_plain(text: &str) -> bool {
    !text.is_empty() && is_plain_or_empty(text)
}

/// Whether a text has at most [`MAX_TEXT`] bytes and no control characters.
pub(crate) fn is_plain_or_empty(text: &str) -> bool {
    text.len() <= MAX_TEXT && !text.chars().any(char::is_control)
}

/// Whether a text is a hexadecimal number of `digits` digits, in lower case.
pub(crate) fn is_hex(text: &str, digits: usize) -> bool {
    let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    text.len() == digits && text.bytes().all(hex)
}

/// Reads a number of 16 hexadecimal digits in lower case.
pub(crate) fn hex_u64(text: &str) -> Option<u64> {
    if is_hex(text, 16) {
        u64::from_str_radix(text, 16).ok()
    } else {
        None
    }
}
