//! The folder a run works in: inside the cache, whose lock it is under, so that what a killed run left there is
//! cleared by the next one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::Failure;

/// A folder that is empty at first and gone afterwards.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    /// Makes the folder anew. The caller holds the cache's lock: nobody else works in there.
    ///
    /// # Errors
    /// When it cannot be cleared or made.
    pub fn new(cache: &Path) -> Result<Scratch, Failure> {
        let folder = cache.join("scratch");
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Failure::file("clear the folder", &folder)(error));
            }
            _ => {}
        }
        fs::create_dir_all(&folder).map_err(Failure::file("make the folder", &folder))?;
        Ok(Scratch { folder })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next run.
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
