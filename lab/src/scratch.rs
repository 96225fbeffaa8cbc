//! The scratch folder of a run. It is inside the cache folder and protected by the cache's lock, so the next run can
//! remove what a killed run left in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::atomic_file::FileError;
use crate::error::LabError;

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
