//! The cache: journal and store behind one interface, held by one `tune` at a time.
//!
//! Every writing call puts its records into the journal first; when it returns, they are on disk. Reads
//! go to the store. Should the store fail during a run, it is replaced by one in memory, rebuilt from
//! the journal, and the run continues.

mod database;
mod folder;
mod maintain;
mod open;
mod options;
mod read;
mod reconcile;
mod report;
mod write;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::CacheError;
use crate::journal::{self, Journal};
use crate::lock::{self, CacheLock};
use crate::record::Record;
use crate::store::{MemoryStore, Store, StoreEntry, StoreError, state};
use crate::warning::Warning;
pub use options::OpenOptions;
pub use report::{Stats, VerifyReport};

/// Strikes after which a config is not launched any more.
pub const QUARANTINE_STRIKES: u32 = 2;

/// Whether a config may be launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// It may, and its start is on disk.
    Go {
        /// Which attempt this is, from 1.
        attempt: u32,
    },
    /// It may not: it was started and not survived too often.
    Quarantined {
        /// How often.
        strikes: u32,
    },
}

struct Inner {
    /// None in a cache opened for reading.
    journal: Option<Journal>,
    store: Box<dyn Store>,
    warnings: Vec<Warning>,
}

/// Trials, winners and runs of this machine. All methods may be called from several threads.
pub struct Cache {
    folder: PathBuf,
    inner: Mutex<Inner>,
    _lock: Option<CacheLock>,
}

impl Cache {
    /// Opens the cache in `folder`, creating it if there is none, and locks it for as long as the
    /// returned value lives. Repairs are reported in the warnings.
    ///
    /// # Errors
    /// The folder or the journal cannot be used, the journal is of a newer version, or another process
    /// holds the cache. A database that cannot be used is not an error.
    pub fn open(
        folder: &Path,
        mut options: OpenOptions<'_>,
    ) -> Result<(Cache, Vec<Warning>), CacheError> {
        let lock = CacheLock::lock_with(folder, options.lock_deadline, &mut options.on_wait)?;
        let mut warnings = Vec::new();
        let (journal, store) = open::open(folder, &options, &mut warnings)?;
        let inner = Inner {
            journal: Some(journal),
            store,
            warnings: Vec::new(),
        };
        let cache = Cache {
            folder: folder.into(),
            inner: Mutex::new(inner),
            _lock: Some(lock),
        };
        Ok((cache, warnings))
    }

    /// Reads the journal in `folder` alone, without a lock and without changing anything: for looking
    /// at a cache that another `tune` is writing. Damaged records are missing from the view.
    ///
    /// # Errors
    /// The journal cannot be read, or is of a newer version. A missing one is an empty view.
    pub fn view(folder: &Path) -> Result<Cache, CacheError> {
        let mut store = MemoryStore::new();
        let path = folder.join(folder::JOURNAL);
        journal::read::<CacheError>(&path, 0, &mut |position, record| {
            Ok(state::apply(&mut store, &record, position)?)
        })?;
        let inner = Inner {
            journal: None,
            store: Box::new(store),
            warnings: Vec::new(),
        };
        Ok(Cache {
            folder: folder.into(),
            inner: Mutex::new(inner),
            _lock: None,
        })
    }

    /// The cache's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path of the journal, for reading it while it grows.
    pub fn journal(&self) -> PathBuf {
        self.folder.join(folder::JOURNAL)
    }

    /// The folder of what was pulled from other machines. The cache only counts and clears it.
    pub fn imports(&self) -> PathBuf {
        self.folder.join(folder::IMPORTS)
    }

    /// The identity of the journal; `None` in a view, which has none of its own.
    pub fn journal_id(&self) -> Option<u64> {
        self.lock().journal.as_ref().map(Journal::id)
    }

    /// Sequence number of the journal's last record; 0 if it has none, and in a view.
    pub fn last_record(&self) -> u64 {
        self.lock().journal.as_ref().map_or(0, Journal::last)
    }

    /// The warnings about the store since opening; each is returned once.
    pub fn take_warnings(&self) -> Vec<Warning> {
        std::mem::take(&mut self.lock().warnings)
    }

    /// Hands everything to the disk and releases the cache.
    ///
    /// # Errors
    /// Never for the journal, which is on disk already; the store's failure to follow.
    pub fn close(self) -> Result<(), CacheError> {
        Ok(self.lock().store.flush()?)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic elsewhere leaves no change half done: every change is one call.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_only(&self) -> CacheError {
        let path = self.folder.clone();
        CacheError::ReadOnly { path }
    }

    fn get(&self, key: &str) -> Result<Option<StoreEntry>, CacheError> {
        self.read(|store| store.get(key))
    }

    fn collect<T>(
        &self,
        prefix: &str,
        mut pick: impl FnMut(StoreEntry) -> Option<T>,
    ) -> Result<Vec<T>, CacheError> {
        self.read(|store| {
            let mut found = Vec::new();
            store.scan(prefix, &mut |entry| found.extend(pick(entry)))?;
            Ok(found)
        })
    }

    /// Reads from the store; from the journal, if the store fails.
    fn read<T>(
        &self,
        mut read: impl FnMut(&dyn Store) -> Result<T, StoreError>,
    ) -> Result<T, CacheError> {
        let mut inner = self.lock();
        match read(inner.store.as_ref()) {
            Ok(value) => Ok(value),
            Err(error) => {
                inner.abandon_store(&error)?;
                Ok(read(inner.store.as_ref())?)
            }
        }
    }

    /// Journals the records, then applies them to the store.
    fn record(&self, records: Vec<Record>) -> Result<(), CacheError> {
        let mut inner = self.lock();
        let Inner { journal, store, .. } = &mut *inner;
        let Some(journal) = journal else {
            return Err(self.read_only());
        };
        let places = journal.append(&records)?;
        for (position, record) in places.into_iter().zip(&records) {
            if let Err(error) = state::apply(store.as_mut(), record, position) {
                return inner.abandon_store(&error);
            }
        }
        Ok(())
    }
}

impl Inner {
    /// Continues in memory with the content of the journal.
    fn abandon_store(&mut self, error: &StoreError) -> Result<(), CacheError> {
        let Some(journal) = &self.journal else {
            return Ok(());
        };
        let memory = open::from_journal(journal)?;
        let failed = std::mem::replace(&mut self.store, memory);
        // Closing a database that failed may never return.
        std::mem::forget(failed);
        self.warnings.push(Warning::StoreUnavailable {
            reason: error.to_string(),
        });
        Ok(())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // The journal is on disk; the store catches up with it when it is opened again.
        let _ = self.store.flush();
    }
}

/// The process that holds the cache in `folder`, by its own word; for messages.
pub fn holder(folder: &Path) -> Option<u32> {
    lock::holder(folder)
}

#[cfg(test)]
mod tests;
