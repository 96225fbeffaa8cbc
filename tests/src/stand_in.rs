//! Libraries that replace a vendor's library. They are compiled from C, or copied with functions removed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{expect_code, workspace};

/// Compiles a fixture into a folder, as a library of this name. A header must declare each of its functions, unless
/// `options` disable this check.
pub(crate) fn compile(
    folder: &Path,
    soname: &str,
    fixture: &str,
    options: impl IntoIterator<Item: AsRef<OsStr>>,
) -> PathBuf {
    let library = folder.join(soname);
    let mut compile = Command::new("cc");
    compile.args(["-O1", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]);
    compile.args(["-Wmissing-prototypes", &format!("-Wl,-soname,{soname}")]);
    compile.args(options).arg("-o").arg(&library);
    compile.arg(workspace().join("tests/fixtures").join(fixture));
    expect_code(&mut compile, 0);
    library
}

/// The bytes of a library in which a function is renamed, so it cannot be found.
///
/// # Panics
/// If the library does not contain the name.
pub fn without(library: &[u8], name: &str) -> Vec<u8> {
    let wanted: Vec<u8> = [b"\0", name.as_bytes(), b"\0"].concat();
    let mut changed = library.to_vec();
    let places: Vec<usize> = (0..library.len().saturating_sub(wanted.len()))
        .filter(|&at| library[at..].starts_with(&wanted))
        .collect();
    assert!(!places.is_empty(), "{name}");
    for at in places {
        changed[at + 1] = b'X';
    }
    changed
}
