//! Copies and writes the files of the folder.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use walkdir::WalkDir;

/// Copies a file, or a folder with its content.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), String> {
    for file in files(from)? {
        let inside = file.strip_prefix(from).unwrap_or(&file);
        if inside
            .components()
            .any(|part| part.as_os_str() == "__pycache__")
        {
            continue;
        }
        // For a single file, the relative path is empty.
        let to = if inside.as_os_str().is_empty() {
            to.to_owned()
        } else {
            to.join(inside)
        };
        make(to.parent().unwrap_or(&to))?;
        fs::copy(&file, &to).map_err(|error| failed(&to, &error))?;
    }
    Ok(())
}

/// The files in a folder and its subfolders. For a file, the file itself.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = WalkDir::new(folder).sort_by_file_name().into_iter();
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| format!("gpu-day: {error}"))?;
        if entry.file_type().is_file() {
            files.push(entry.into_path());
        }
    }
    Ok(files)
}

/// Writes a JSON value.
pub(super) fn write(path: &Path, value: &Value) -> Result<(), String> {
    fs::write(path, format!("{value:#}\n")).map_err(|error| failed(path, &error))
}

/// Creates a folder and its parents.
pub(super) fn make(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))
}

/// The error of an operation on a path.
pub(super) fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("gpu-day: {}: {error}", path.display())
}
