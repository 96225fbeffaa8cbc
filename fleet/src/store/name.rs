//! Names of objects: relative, and safe as paths and as keys.

use super::StoreError;

/// Longest name, in bytes.
const MAX_NAME: usize = 512;

/// Whether an object can have this name.
pub(super) fn is_name(name: &str) -> bool {
    name.len() <= MAX_NAME && name.split('/').all(is_word)
}

/// Whether a part of a name can be this word. None begins with a dot: those are temporary files and parents.
pub(super) fn is_word(word: &str) -> bool {
    let safe = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b);
    !word.is_empty() && !word.starts_with('.') && word.bytes().all(safe)
}

/// Refuses any other name.
pub(super) fn check(name: &str) -> Result<(), StoreError> {
    if is_name(name) {
        return Ok(());
    }
    Err(StoreError::Name {
        name: name.escape_default().take(80).collect(),
    })
}
