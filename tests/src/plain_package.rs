//! Packages that `tune` reads and cargo never builds.

use std::fs;
use std::path::Path;

/// Writes a package without dependencies, with these files, into a folder.
///
/// # Panics
/// If a file cannot be written.
pub fn write_package(root: &Path, name: &str, files: &[(&str, &str)]) {
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n"
    );
    for (path, text) in [("Cargo.toml", &*manifest)].iter().chain(files) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap_or(root)).expect("a folder should be made");
        fs::write(path, text).expect("a file should be written");
    }
}
