//! Python environments, into which wheels install the vendors' libraries.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders `site-packages` of a virtual or conda environment, sorted by name; none if the folder is not an
/// environment.
pub(crate) fn site_packages(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root.join("lib")).into_iter().flatten();
    let mut packages: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("python3"))
        .map(|python| python.path().join("site-packages"))
        .collect();
    packages.sort();
    packages
}
