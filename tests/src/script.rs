//! Shell scripts that stand in for programs or run before them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Writes an executable script for the shell. Returns its path.
///
/// # Panics
/// If the file cannot be written.
pub fn write_script(path: &Path, body: &str) -> PathBuf {
    fs::write(path, format!("#!/bin/sh\n{body}\n")).expect("the script should be written");
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(path, executable).expect("the script should be made executable");
    path.to_owned()
}

/// The path of the first of these programs that is in a folder of `PATH`.
pub fn first_on_path(names: &[&str]) -> Option<PathBuf> {
    names.iter().find_map(|name| which::which(name).ok())
}
