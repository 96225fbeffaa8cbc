//! The cache is one interface to the journal and the store. Only one `tune` at a time has the cache open for writing.
//!
//! Every call that writes first appends its records to the journal. When the call returns, these records are on disk.
//! Reads go to the store. If the store fails during a run, it is replaced by a store in memory that is rebuilt from the
//! journal, and the run continues.

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

/// Number of strikes after which a config is not launched any more. A strike is a launch that crashed the machine,
/// ended the worker, made the device unusable, exhausted the memory, or exceeded its deadline.
pub const QUARANTINE_STRIKES: u32 = 2;

/// Whether a config may be launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// The config may be launched, and the record of its start is on disk.
    Go {
        /// Number of the attempt, from 1.
        attempt: u32,
    },
    /// The config may not be launched, because too many of its launches were strikes (see [`QUARANTINE_STRIKES`]).
    Quarantined {
        /// Number of strikes.
        strikes: u32,
    },
}

struct Inner {
    /// The journal; `None` in a cache that was opened only for reading.
    journal: Option<Journal>,
    store: Box<dyn Store>,
    warnings: Vec<Warning>,
}

/// The trials, winners and runs of this machine. All methods may be called from several threads.
pub struct Cache {
    folder: PathBuf,
    inner: Mutex<Inner>,
    _lock: Option<CacheLock>,
    /// Number of records that were lost when the journal was repaired.
    lost_in_repair: u64,
}

impl Cache {
    /// Opens the cache in `folder`, and creates it if it does not exist. The cache is locked until the returned value
    /// is dropped. Repairs are reported in the warnings.
    ///
    /// # Errors
    /// The folder or the journal cannot be used, a newer version wrote the journal, or another process holds the cache
    /// or its database. A database that cannot be used is not an error.
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
            lost_in_repair: warnings.iter().map(Warning::lost).sum(),
        };
        Ok((cache, warnings))
    }

    /// Reads only the journal in `folder`, without a lock and without changing anything. A cache can therefore be
    /// viewed while another `tune` writes to it. The view leaves out damaged records.
    ///
    /// # Errors
    /// The journal cannot be read, or a newer version wrote it. A missing journal gives an empty view.
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
            lost_in_repair: 0,
        })
    }

    /// The cache's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path of the journal's file, for programs that read it while it grows.
    pub fn journal(&self) -> PathBuf {
        self.folder.join(folder::JOURNAL)
    }

    /// The folder of the results that were pulled from other machines. The cache only measures its size and clears it.
    pub fn imports(&self) -> PathBuf {
        self.folder.join(folder::IMPORTS)
    }

    /// The identity of the journal; `None` in a view.
    pub fn journal_id(&self) -> Option<u64> {
        self.lock().journal.as_ref().map(Journal::id)
    }

    /// Sequence number of the journal's last record; 0 if the journal has no records, and in a view.
    pub fn last_record(&self) -> u64 {
        self.lock().journal.as_ref().map_or(0, Journal::last)
    }

    /// The warnings about the store since the cache was opened. Each warning is returned once.
    pub fn take_warnings(&self) -> Vec<Warning> {
        std::mem::take(&mut self.lock().warnings)
    }

    /// Writes the store to disk and releases the cache.
    ///
    /// # Errors
    /// The store could not be written. The journal is already on disk.
    pub fn close(self) -> Result<(), CacheError> {
        Ok(self.lock().store.flush()?)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Every change is made by one call, so a panic in another thread does not leave a partial change behind.
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

    /// Reads from the store. If the store fails, rebuilds it from the journal and reads again.
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

    /// Appends the records to the journal, then applies them to the store.
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
    /// Replaces a failed store by one in memory with the content of the journal. Does nothing if the cache was opened
    /// only for reading.
    fn abandon_store(&mut self, error: &StoreError) -> Result<(), CacheError> {
        let Some(journal) = &self.journal else {
            return Ok(());
        };
        let memory = open::from_journal(journal)?;
        let failed = std::mem::replace(&mut self.store, memory);
        // The failed database is leaked, because closing it may never return.
        std::mem::forget(failed);
        self.warnings.push(Warning::StoreUnavailable {
            reason: error.to_string(),
        });
        Ok(())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // The records are already in the journal. If the store cannot be written now, it catches up when the cache is
        // opened again.
        let _ = self.store.flush();
    }
}

/// The process id in the lock file of the cache in `folder`, for messages; `None` if it is unknown.
pub fn holder(folder: &Path) -> Option<u32> {
    lock::holder(folder)
}

#[cfg(test)]
mod tests;
