//! Folders for temporary files. The scratch folder of a run is inside the cache folder and protected by the cache's
//! lock, so the next run can remove what a killed run left in it. Commands that do not lock the cache use a folder in the
//! system's folder for temporary files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::LabError;
use kiln_project::atomic_file::FileError;

/// Creates a folder in the system's folder for temporary files (`TMPDIR`). It is removed on drop. Its name contains
/// `command`.
///
/// # Errors
/// If the folder cannot be created.
pub fn temporary_folder(command: &str) -> Result<TempDir, LabError> {
    let made = tempfile::Builder::new()
        .prefix(&format!("kiln-{command}-"))
        .tempdir();
    made.map_err(|error| LabError::NoTemporaryFolder {
        folder: std::env::temp_dir(),
        error,
    })
}

/// A folder that is empty at first and is removed on drop.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    /// Creates the folder, and empties it if it exists. The caller must hold the cache's lock, which guarantees that no
    /// other process uses the folder.
    ///
    /// # Errors
    /// If the folder cannot be emptied or created.
    pub fn new(cache: &Path) -> Result<Scratch, LabError> {
        let folder = cache.join("scratch");
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(FileError::of("clear the folder", &folder)(error).into());
            }
            _ => {}
        }
        fs::create_dir_all(&folder).map_err(FileError::of("make the folder", &folder))?;
        Ok(Scratch { folder })
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // If something cannot be removed here, the next run removes it.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_run_left_is_cleared_by_the_next() {
        let cache = tempfile::tempdir().unwrap();
        let left = cache.path().join("scratch/kernel.so");
        fs::create_dir_all(left.parent().unwrap()).unwrap();
        fs::write(&left, "left").unwrap();
        let scratch = Scratch::new(cache.path()).unwrap();
        assert!(scratch.path().is_dir() && !left.exists());
        drop(scratch);
        assert!(!cache.path().join("scratch").exists());
    }
}
