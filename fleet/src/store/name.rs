//! Names of objects. A valid name is relative, and is safe both as a path and as an S3 key.

use super::StoreError;

/// Longest name, in bytes.
const MAX_NAME: usize = 512;

/// Whether `name` is a valid name of an object.
pub(super) fn is_name(name: &str) -> bool {
    name.len() <= MAX_NAME && name.split('/').all(is_word)
}

/// Whether `word` is a valid part of a name. A part must not begin with a dot, because temporary files and the parent
/// folder `..` do.
pub(super) fn is_word(word: &str) -> bool {
    let safe = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b);
    !word.is_empty() && !word.starts_with('.') && word.bytes().all(safe)
}

/// An error if `name` is not valid.
pub(super) fn check(name: &str) -> Result<(), StoreError> {
    if is_name(name) {
        return Ok(());
    }
    Err(StoreError::Name {
        name: name.escape_default().take(80).collect(),
    })
}
