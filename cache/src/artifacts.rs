//! Compiled artifacts on disk, addressed by the hash of everything that went into them.
//!
//! One artifact is one file, put in place by one rename and checked against its hash when it is read: a
//! damaged, exchanged or half-written one is a miss. The folder stays below a number of bytes; what was
//! not used for longest goes first. Losing an artifact costs a compilation, so nothing is synced.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use kiln_spec::Hash;
use thiserror::Error;

/// First bytes of an artifact file.
const MAGIC: &str = "kiln-artifact 1";
/// Ending of an artifact file.
const ENDING: &str = "art";
/// A temporary file older than this was left by a process that is gone.
const STALE: Duration = Duration::from_secs(3600);

/// Why the folder of artifacts could not be used.
#[derive(Debug, Error)]
#[error(
    "cannot {what} the artifact {path}: {source}\nhelp: free disk space, or `tune cache clear`"
)]
pub struct ArtifactError {
    what: &'static str,
    path: PathBuf,
    source: io::Error,
}

/// An artifact, read back and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// Hash of the bytes.
    pub content: Hash,
    /// The code object.
    pub bytes: Vec<u8>,
}

/// A folder of compiled artifacts. All methods may be called from several threads and processes.
#[derive(Debug)]
pub struct Artifacts {
    folder: PathBuf,
    max_bytes: u64,
    /// Bytes in the folder, by this process's count.
    total: Mutex<u64>,
    damaged: AtomicU64,
}

impl Artifacts {
    /// Opens the folder, making it where there is none, and brings it below `max_bytes`.
    ///
    /// # Errors
    /// When the folder cannot be made or read.
    pub fn open(folder: &Path, max_bytes: u64) -> Result<Artifacts, ArtifactError> {
        let artifacts = Artifacts {
            folder: folder.into(),
            max_bytes,
            total: Mutex::new(0),
            damaged: AtomicU64::new(0),
        };
        std::fs::create_dir_all(folder).map_err(|e| artifacts.failed("open", folder, e))?;
        artifacts
            .evict(None)
            .map_err(|e| artifacts.failed("list", folder, e))?;
        Ok(artifacts)
    }

    /// Hash of an artifact's bytes, as [`Artifact::content`] has it.
    pub fn content_hash(bytes: &[u8]) -> Hash {
        Hash::of("kiln.artifact", bytes)
    }

    /// Stores the artifact of a compile request, and returns the hash of its bytes. One that is larger
    /// than the whole folder may be is not kept.
    ///
    /// # Errors
    /// When it could not be written; the one stored before is untouched.
    pub fn put(&self, request: Hash, bytes: &[u8]) -> Result<Hash, ArtifactError> {
        let content = Artifacts::content_hash(bytes);
        let header = header(request, content, bytes.len());
        let size = (header.len() + bytes.len()) as u64;
        if size > self.max_bytes {
            return Ok(content);
        }
        let path = self.path(request);
        let replaced = path.metadata().map_or(0, |old| old.len());
        let temporary = self.temporary();
        let written = write_new(&temporary, header.as_bytes(), bytes)
            .and_then(|()| std::fs::rename(&temporary, &path));
        if let Err(source) = written {
            let _ = std::fs::remove_file(&temporary);
            return Err(self.failed("write", &path, source));
        }
        let total = {
            let mut total = self.total.lock().unwrap_or_else(PoisonError::into_inner);
            *total = (*total + size).saturating_sub(replaced);
            *total
        };
        if total > self.max_bytes {
            self.evict(Some(&path))
                .map_err(|e| self.failed("make room for", &path, e))?;
        }
        Ok(content)
    }

    /// The artifact of a compile request, if it is stored and every bit of it is as written. A damaged
    /// one is removed and counted.
    ///
    /// # Errors
    /// When the file is there but cannot be read.
    pub fn get(&self, request: Hash) -> Result<Option<Artifact>, ArtifactError> {
        let path = self.path(request);
        let bytes = match read_at_most(&path, self.max_bytes) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.failed("read", &path, error)),
        };
        let Some(artifact) = decode(request, &bytes) else {
            self.damaged.fetch_add(1, Ordering::Relaxed);
            let _ = std::fs::remove_file(&path);
            return Ok(None);
        };
        // Only the order of eviction depends on it.
        let _ = File::options()
            .append(true)
            .open(&path)
            .and_then(|file| file.set_modified(SystemTime::now()));
        Ok(Some(artifact))
    }

    /// Damaged artifacts found so far.
    pub fn damaged(&self) -> u64 {
        self.damaged.load(Ordering::Relaxed)
    }

    fn path(&self, request: Hash) -> PathBuf {
        self.folder.join(format!("{request}.{ENDING}"))
    }

    fn temporary(&self) -> PathBuf {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        self.folder.join(format!("{process}-{count}.tmp"))
    }

    fn failed(&self, what: &'static str, path: &Path, source: io::Error) -> ArtifactError {
        ArtifactError {
            what,
            path: path.into(),
            source,
        }
    }

    /// Removes what was not used for longest until the folder is small enough, and counts again.
    fn evict(&self, keep: Option<&Path>) -> io::Result<()> {
        let mut total = self.total.lock().unwrap_or_else(PoisonError::into_inner);
        let mut files = self.files()?;
        *total = files.iter().map(|(_, _, size)| size).sum();
        files.sort();
        for (_, path, size) in files {
            if *total <= self.max_bytes {
                break;
            }
            if keep == Some(path.as_path()) {
                continue;
            }
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => *total -= size,
            }
        }
        Ok(())
    }

    /// Last use, path and size of every artifact; clears temporary files that nobody finishes.
    fn files(&self) -> io::Result<Vec<(SystemTime, PathBuf, u64)>> {
        let mut files = Vec::new();
        for entry in self.folder.read_dir()? {
            let path = entry?.path();
            // Gone since the folder was listed: another process made room.
            let Ok(metadata) = path.symlink_metadata() else {
                continue;
            };
            let modified = metadata.modified()?;
            match path.extension().and_then(|ending| ending.to_str()) {
                Some(ENDING) => files.push((modified, path, metadata.len())),
                Some("tmp") if modified.elapsed().is_ok_and(|age| age > STALE) => {
                    let _ = std::fs::remove_file(&path);
                }
                _ => {}
            }
        }
        Ok(files)
    }
}

fn header(request: Hash, content: Hash, bytes: usize) -> String {
    format!("{MAGIC} {request} {content} {bytes}\n")
}

fn decode(request: Hash, file: &[u8]) -> Option<Artifact> {
    let end = file.iter().take(256).position(|b| *b == b'\n')?;
    let bytes = &file[end + 1..];
    let content = Artifacts::content_hash(bytes);
    let expected = header(request, content, bytes.len());
    (file[..=end] == *expected.as_bytes()).then(|| Artifact {
        content,
        bytes: bytes.to_vec(),
    })
}

fn read_at_most(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    File::open(path)?
        .take(max_bytes + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn write_new(path: &Path, header: &[u8], bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(header)?;
    file.write_all(bytes)
}

#[cfg(test)]
mod tests;
