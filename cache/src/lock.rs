//! One `tune` at a time in a cache: a lock on a file of its folder, held for the whole run.
//!
//! The kernel releases it when the process ends, however it ends. The file's content (the holder's
//! process id) is for the message alone.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::CacheError;

/// Name of the lock's file.
pub(crate) const LOCK_FILE: &str = "lock";

/// First pause between two attempts; it grows to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(20);
/// Longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// The lock of a cache, held until it is dropped.
#[derive(Debug)]
pub struct CacheLock {
    /// Open, and with it locked.
    _file: File,
    folder: PathBuf,
}

/// The message of a waiting program to its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The cache's folder.
    pub folder: PathBuf,
    /// The process that holds the lock, if known.
    pub process: Option<u32>,
    /// How long it has been waited for.
    pub waited: Duration,
}

impl CacheLock {
    /// Takes the lock if nobody holds it; creates the folder if there is none.
    ///
    /// # Errors
    /// A folder that cannot be made or used, or that anybody may write to.
    pub fn try_lock(folder: &Path) -> Result<Option<CacheLock>, CacheError> {
        prepare(folder)?;
        let unusable = |source| CacheError::Folder {
            path: folder.into(),
            source,
        };
        let mut file = open(&folder.join(LOCK_FILE)).map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => {
                // For messages only: a full disk must not stop a reader.
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

    /// Takes the lock, waiting for its holder: forever, or until `deadline` has passed.
    /// `on_wait` is called before each pause.
    ///
    /// # Errors
    /// [`CacheError::InUse`] after the deadline; else as [`Self::try_lock`].
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

/// The process that last took the lock, by its own word.
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

/// Makes the folder, for its owner alone, and refuses one that anybody may write to.
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
