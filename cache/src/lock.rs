//! The lock of a cache, which allows one `tune` at a time. It is a lock on a file in the cache's folder and is held for
//! the whole run.
//!
//! The operating system releases the lock when the process ends, however the process ends. The file has the process id
//! of the holder, which is used only in messages.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::CacheError;

/// Name of the lock file.
pub(crate) const LOCK_FILE: &str = "lock";

/// First pause between two attempts; it grows to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(20);
/// Longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// The lock of a cache, held until it is dropped.
#[derive(Debug)]
pub struct CacheLock {
    /// The lock is held as long as this file is open.
    _file: File,
    folder: PathBuf,
}

/// The state of a program that waits for the lock, for a message to its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The cache's folder.
    pub folder: PathBuf,
    /// The process that holds the lock; `None` if it is unknown.
    pub process: Option<u32>,
    /// Time since the wait began.
    pub waited: Duration,
}

impl CacheLock {
    /// Takes the lock; returns `None` if another process holds it. Creates the folder if it does not exist.
    ///
    /// # Errors
    /// The folder cannot be created or used, or anybody may write to it.
    pub fn try_lock(folder: &Path) -> Result<Option<CacheLock>, CacheError> {
        prepare(folder)?;
        let unusable = |source| CacheError::Folder {
            path: folder.into(),
            source,
        };
        let mut file = open(&folder.join(LOCK_FILE)).map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => {
                // A full disk is not an error here, because the process id in the file is only for messages.
                let _ = sign(&mut file);
                Ok(Some(CacheLock {
                    _file: file,
                    folder: folder.into(),
                }))
            }
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(unusable(source)),
        }
    }

    /// Takes the lock, and waits while another process holds it. It waits until `deadline` has passed, or without limit
    /// for `None`. `on_wait` is called before each pause.
    ///
    /// # Errors
    /// [`CacheError::InUse`] after the deadline, and the errors of [`Self::try_lock`].
    pub fn lock_with(
        folder: &Path,
        deadline: Option<Duration>,
        on_wait: &mut dyn FnMut(&Waiting),
    ) -> Result<CacheLock, CacheError> {
        let began = Instant::now();
        let mut pause = FIRST_PAUSE;
        loop {
            if let Some(lock) = CacheLock::try_lock(folder)? {
                return Ok(lock);
            }
            let waiting = Waiting {
                folder: folder.into(),
                process: holder(folder),
                waited: began.elapsed(),
            };
            if deadline.is_some_and(|deadline| waiting.waited >= deadline) {
                return Err(CacheError::InUse {
                    path: waiting.folder,
                    process: waiting.process,
                });
            }
            on_wait(&waiting);
            std::thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// The cache's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// The process id in the lock file, which the last holder of the lock wrote; `None` if it cannot be read.
pub(crate) fn holder(folder: &Path) -> Option<u32> {
    let file = File::open(folder.join(LOCK_FILE)).ok()?;
    let mut text = String::new();
    file.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
}

fn sign(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

/// Creates the folder with access only for its owner. An existing folder that anybody may write to is an error.
pub(crate) fn prepare(folder: &Path) -> Result<(), CacheError> {
    let unusable = |source| CacheError::Folder {
        path: folder.into(),
        source,
    };
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(unusable)?;
    let mode = folder.metadata().map_err(unusable)?.permissions().mode() & 0o7777;
    if mode & 0o002 != 0 {
        return Err(CacheError::WorldWritable {
            path: folder.into(),
            mode,
        });
    }
    Ok(())
}
