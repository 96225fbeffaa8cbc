//! Reads files and computes their hashes.

use std::fs;
use std::path::Path;

use sha2::{Digest as _, Sha256};

/// The SHA-256 of bytes, in hexadecimal. Python and coreutils can compute the same hash without further packages.
pub(super) fn hash_of(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

/// The SHA-256 of a file, in hexadecimal.
///
/// # Errors
/// If the file cannot be read.
pub(super) fn hash_of_file(path: &Path) -> Result<String, String> {
    Ok(hash_of(&read(path)?))
}

/// The content of a file.
///
/// # Errors
/// If the file cannot be read.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("gpu-day: {}: {error}", path.display()))
}

/// The length of a file in bytes.
///
/// # Errors
/// If the operating system does not report it.
pub(super) fn size_of(path: &Path) -> Result<u64, String> {
    let about = fs::metadata(path);
    about
        .map(|about| about.len())
        .map_err(|error| format!("gpu-day: {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_standard() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash_of(b"abc"), abc);
    }
}
