//! Finds files that declare a kernel but belong to no target. Neither cargo nor this crate reads such files, so without
//! this module the kernels in them would be ignored without a message.

use std::fs;
use std::path::{Path, PathBuf};

/// The Rust files below a folder that contain a `#[tuned_kernel]`, sorted. The caller has found no kernel in the
/// package, so none of these files belongs to a target.
pub(super) fn kernels_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        // A folder that cannot be read is treated as empty.
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

/// Whether a line of the file starts with the attribute.
fn declares(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start();
        line.starts_with("#[tuned_kernel") || line.starts_with("#[kiln::tuned_kernel")
    })
}
