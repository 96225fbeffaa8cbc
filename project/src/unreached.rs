//! Finds files that declare a kernel and belong to no target: nothing reads them, and otherwise nothing would report
//! them.

use std::fs;
use std::path::{Path, PathBuf};

/// The Rust files below a folder that contain a `#[tuned_kernel]`, sorted. Called only if no kernel was found, so
/// none of these files was reached.
pub(super) fn kernels_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        // An unreadable folder declares nothing.
        for path in fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
        {
            if path.is_dir() && !path.is_symlink() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && fs::read_to_string(&path).is_ok_and(|text| declares(&text))
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Whether a line begins with the attribute.
fn declares(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start();
        line.starts_with("#[tuned_kernel") || line.starts_with("#[kiln::tuned_kernel")
    })
}
