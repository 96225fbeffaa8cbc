//! Opens the database: probes it in a child process, waits until no other process has it open, and sets it aside
//! (renames it) if it is damaged or was written by a newer version.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::folder::bytes_under;
use super::options::OpenOptions;
use crate::error::CacheError;
use crate::probe::{self, Probed};
use crate::set_aside;
use crate::store::{MemoryStore, STORE_SCHEMA, SledStore, Store, StoreError};
use crate::warning::Warning;

/// First pause between two attempts to open a locked database; it doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// Longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_millis(300);
/// The deadline is extended by one millisecond for every `BYTES_PER_MS` bytes of the database. A database of 100 MB
/// therefore gets twelve more seconds, about ten times as long as opening it takes.
const BYTES_PER_MS: u64 = 8 << 10;

/// The database, and how it was found.
pub(super) struct FoundDatabase {
    pub store: Box<dyn Store>,
    /// The path to which the old database was renamed, and why it could not be used; `None` if no database was renamed.
    pub aside: Option<(PathBuf, StoreError)>,
    /// Whether the store is on disk. A journal is repaired only from a store on disk.
    pub lasting: bool,
}

impl FoundDatabase {
    fn on_disk(store: SledStore, aside: Option<(PathBuf, StoreError)>) -> FoundDatabase {
        FoundDatabase {
            store: Box::new(store),
            aside,
            lasting: true,
        }
    }

    fn in_memory(error: &StoreError, warnings: &mut Vec<Warning>) -> FoundDatabase {
        warnings.push(Warning::StoreUnavailable {
            reason: error.to_string(),
        });
        FoundDatabase {
            store: Box::new(MemoryStore::new()),
            aside: None,
            lasting: false,
        }
    }
}

/// Opens the database. If it is damaged or a newer version wrote it, sets it aside and creates a new one. If that
/// fails, or if the operating system reports an error, uses a store in memory. A database that stays locked is an
/// error.
pub(super) fn find(
    path: &Path,
    options: &OpenOptions<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<FoundDatabase, CacheError> {
    let mut aside = None;
    if path.symlink_metadata().is_ok() {
        match open_existing(path, options, warnings) {
            Ok(store) => return Ok(FoundDatabase::on_disk(store, aside)),
            Err(StoreError::Locked { path }) => {
                let process = None;
                return Err(CacheError::InUse { path, process });
            }
            // The content may be undamaged, so the database stays where it is.
            Err(error @ StoreError::Failed { .. }) => {
                return Ok(FoundDatabase::in_memory(&error, warnings));
            }
            Err(error) => match set_aside::rename(path, label(&error)) {
                Ok(moved_to) => aside = Some((moved_to, error)),
                Err(_) => return Ok(FoundDatabase::in_memory(&error, warnings)),
            },
        }
    }
    Ok(match SledStore::open_within(path, options.deadline) {
        Ok(store) => FoundDatabase::on_disk(store, aside),
        Err(error) => FoundDatabase {
            aside,
            ..FoundDatabase::in_memory(&error, warnings)
        },
    })
}

fn label(error: &StoreError) -> &'static str {
    match error {
        StoreError::Newer { .. } => "newer",
        _ => "corrupt",
    }
}

/// Opens an existing database, and waits until it is free.
fn open_existing(
    path: &Path,
    options: &OpenOptions<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<SledStore, StoreError> {
    // Reading a large database takes more time.
    let bytes = bytes_under(path).unwrap_or(0);
    let deadline = options.deadline + Duration::from_millis(bytes / BYTES_PER_MS);
    let (began, mut pause) = (Instant::now(), FIRST_PAUSE);
    loop {
        let opened = probe(path, options, deadline, warnings)
            .and_then(|()| SledStore::open_within(path, deadline));
        match opened {
            Err(StoreError::Locked { .. }) if began.elapsed() < deadline => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            opened => return opened,
        }
    }
}

fn probe(
    path: &Path,
    options: &OpenOptions<'_>,
    deadline: Duration,
    warnings: &mut Vec<Warning>,
) -> Result<(), StoreError> {
    let Some(command) = &options.probe else {
        return Ok(());
    };
    match probe::ask(command, path, deadline) {
        Probed::Sound => Ok(()),
        Probed::Damaged(what) => Err(StoreError::Damaged { what }),
        Probed::Newer => Err(StoreError::Newer {
            found: "unknown to this version".into(),
            known: STORE_SCHEMA,
        }),
        Probed::Locked => Err(StoreError::Locked { path: path.into() }),
        Probed::Failed => Err(StoreError::Failed {
            reason: "the operating system refused to open it".into(),
        }),
        Probed::NotRun(error) => {
            let reason = error.to_string();
            warnings.push(Warning::ProbeNotRun { reason });
            Ok(())
        }
    }
}
