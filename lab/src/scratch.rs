//! The work folder of a run. It is inside the cache folder and protected by the cache's lock, so that the next run
//! removes what a killed run left there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::atomic_file::FileError;
use crate::error::LabError;

/// A folder that starts empty and is removed on drop.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    /// Creates the folder. The caller holds the cache's lock, so nobody else works in it.
    ///
    /// # Errors
    /// If it cannot be emptied or created.
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

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // If something cannot be removed now, the next run removes it.
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
