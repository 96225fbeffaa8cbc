//! The store in a sled database. Only this file uses sled.
//!
//! sled is beta software. If a database is damaged, sled may lose entries silently, panic, or never return. Therefore:
//! - every value has a checksum, and every batch has the count and root hash of all entries
//! - a database is used only after it was read completely
//! - panics of sled are caught
//! - opening has a deadline, and is first tried in a process that can be killed (see [`crate::probe`])

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use super::change::{Change, Position};
use super::entry::StoreEntry;
use super::error::StoreError;
use super::interface::Store;
use super::totals::Totals;
use super::value::{self, STORE_SCHEMA};

/// The key of the totals. No entry's key begins with `~`.
const TOTALS_KEY: &str = "~totals";

/// Memory that sled may use for pages, in bytes.
const PAGE_CACHE: u64 = 32 << 20;

/// A function that receives the key and the value of an entry.
type Visit<'v> = &'v mut dyn FnMut(&str, &[u8]) -> Result<(), StoreError>;

/// A store in a sled database.
pub struct SledStore {
    db: sled::Db,
    totals: Totals,
}

impl SledStore {
    /// Opens the database at `path`, or creates it, and reads it completely.
    ///
    /// # Errors
    /// The database is locked, damaged or of a newer version, or sled fails.
    pub fn open(path: &Path) -> Result<SledStore, StoreError> {
        let config = sled::Config::new().path(path).cache_capacity(PAGE_CACHE);
        let db = guarded(|| config.open()).map_err(|error| located(error, path))?;
        let mut store = SledStore {
            db,
            totals: Totals::default(),
        };
        store.totals = store.read_totals()?;
        store.check()?;
        Ok(store)
    }

    /// Opens the database in a separate thread, and returns an error after `deadline`. The thread then continues,
    /// because sled cannot be interrupted.
    ///
    /// # Errors
    /// The errors of [`Self::open`], and [`StoreError::Unresponsive`] after the deadline.
    pub fn open_within(path: &Path, deadline: Duration) -> Result<SledStore, StoreError> {
        let (done, result) = channel();
        let path: PathBuf = path.into();
        std::thread::Builder::new()
            .name("kiln-store-open".into())
            .spawn(move || {
                // Sending fails if the caller no longer waits. The store is then closed again.
                let _ = done.send(SledStore::open(&path));
            })
            .map_err(|error| StoreError::Failed {
                reason: format!("cannot start a thread: {error}"),
            })?;
        match result.recv_timeout(deadline) {
            Ok(opened) => opened,
            Err(RecvTimeoutError::Timeout) => Err(StoreError::Unresponsive {
                deadline_ms: deadline.as_millis(),
            }),
            Err(RecvTimeoutError::Disconnected) => Err(StoreError::Damaged {
                what: "opening it panicked".into(),
            }),
        }
    }

    fn read_totals(&self) -> Result<Totals, StoreError> {
        match guarded(|| self.db.get(TOTALS_KEY))? {
            Some(bytes) => value::decode(TOTALS_KEY, &bytes),
            None => Ok(Totals::default()),
        }
    }

    /// Visits the key and value of every entry whose key begins with `prefix`.
    fn visit(&self, prefix: &str, visit: Visit<'_>) -> Result<(), StoreError> {
        let mut entries = self.db.scan_prefix(prefix);
        while let Some((key, bytes)) = guarded(|| entries.next().transpose())? {
            let key = std::str::from_utf8(&key).map_err(|_| StoreError::Damaged {
                what: format!("{key:?} is not a key of an entry"),
            })?;
            if key != TOTALS_KEY {
                visit(key, &bytes)?;
            }
        }
        Ok(())
    }
}

impl Store for SledStore {
    fn get(&self, key: &str) -> Result<Option<StoreEntry>, StoreError> {
        let bytes = guarded(|| self.db.get(key))?;
        bytes.map(|b| value::decode_entry(key, &b)).transpose()
    }

    fn scan(&self, prefix: &str, visit: &mut dyn FnMut(StoreEntry)) -> Result<(), StoreError> {
        self.visit(prefix, &mut |key, bytes| {
            visit(value::decode_entry(key, bytes)?);
            Ok(())
        })
    }

    fn apply(&mut self, changes: &[Change], position: Position) -> Result<(), StoreError> {
        let mut totals = Totals {
            position: Some(position),
            ..self.totals
        };
        let mut batch = sled::Batch::default();
        for (key, new) in value::by_key(changes)? {
            let old = guarded(|| self.db.get(&key))?;
            totals.exchange(&key, old.as_deref(), new.as_deref());
            match new {
                Some(bytes) => batch.insert(key.as_str(), bytes),
                None => batch.remove(key.as_str()),
            }
        }
        // The totals are in the same batch as the entries, so they match the entries even after a crash.
        batch.insert(TOTALS_KEY, value::encode(TOTALS_KEY, &totals)?);
        guarded(|| self.db.apply_batch(batch))?;
        self.totals = totals;
        Ok(())
    }

    fn totals(&self) -> Totals {
        self.totals
    }

    fn check(&self) -> Result<(), StoreError> {
        let mut counted = Totals::default();
        self.visit("", &mut |key, bytes| {
            value::decode_entry(key, bytes)?;
            counted.exchange(key, None, Some(bytes));
            Ok(())
        })?;
        self.totals.agree(&counted)
    }

    fn clear(&mut self) -> Result<(), StoreError> {
        guarded(|| self.db.clear())?;
        self.totals = Totals::default();
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        guarded(|| self.db.flush()).map(drop)
    }
}

/// Calls sled, and turns a panic into an error.
fn guarded<T>(call: impl FnOnce() -> sled::Result<T>) -> Result<T, StoreError> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result.map_err(translated),
        Err(_) => Err(StoreError::Damaged {
            what: "reading it panicked".into(),
        }),
    }
}

fn translated(error: sled::Error) -> StoreError {
    match error {
        sled::Error::Unsupported(reason) if reason.contains("created using") => StoreError::Newer {
            found: reason,
            known: STORE_SCHEMA,
        },
        // An error of the operating system (a full disk, missing permissions) does not mean that the content is
        // damaged.
        sled::Error::Io(error) if is_of_the_system(&error) || is_lock(&error.to_string()) => {
            StoreError::Failed {
                reason: error.to_string(),
            }
        }
        error => StoreError::Damaged {
            what: error.to_string(),
        },
    }
}

/// Whether the operating system refused a call. Sled keeps the number of such an error in some places, and only its kind
/// in others. Its own errors about damaged content have other kinds.
fn is_of_the_system(error: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    let kinds = [
        StorageFull,
        QuotaExceeded,
        ReadOnlyFilesystem,
        PermissionDenied,
    ];
    error.raw_os_error().is_some() || kinds.contains(&error.kind())
}

fn is_lock(reason: &str) -> bool {
    reason.contains("could not acquire lock")
}

/// Turns an error about sled's lock into [`StoreError::Locked`]. Such an error can be identified only by its text.
fn located(error: StoreError, path: &Path) -> StoreError {
    match error {
        StoreError::Failed { reason } if is_lock(&reason) => {
            StoreError::Locked { path: path.into() }
        }
        error => error,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::samples::{key, trial};

    /// Opens a database of ten trials that was changed without the store.
    fn tampered(tamper: impl FnOnce(&sled::Db)) -> Result<SledStore, StoreError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let mut store = SledStore::open(&path).unwrap();
        let trials = (0..10).map(|n| Change::put(StoreEntry::Trial(trial(&key(1), n))));
        let position = Position {
            journal: 1,
            sequence: 10,
            chain: kiln_spec::Hash::of("test", b"chain"),
        };
        store.apply(&trials.collect::<Vec<_>>(), position).unwrap();
        tamper(&store.db);
        drop(store);
        reopen(&path)
    }

    /// Opens a store again. Retries, because sled releases its lock only a moment after the store is dropped.
    fn reopen(path: &Path) -> Result<SledStore, StoreError> {
        for _ in 0..200 {
            match SledStore::open(path) {
                Err(StoreError::Locked { .. }) => std::thread::sleep(Duration::from_millis(10)),
                opened => return opened,
            }
        }
        panic!("the database stays locked");
    }

    /// Changes the database at `path` so that it looks like one of the next version.
    pub(crate) fn write_newer(path: &Path) {
        let db = reopen(path).unwrap().db;
        let mut bytes = db.get(TOTALS_KEY).unwrap().unwrap().to_vec();
        let schema = (STORE_SCHEMA + 1).to_le_bytes();
        let crc = value::checksum(schema, TOTALS_KEY, &bytes[value::HEADER..]);
        bytes[..2].copy_from_slice(&schema);
        bytes[2..value::HEADER].copy_from_slice(&crc.to_le_bytes());
        db.insert(TOTALS_KEY, bytes).unwrap();
        db.flush().unwrap();
    }

    fn first_key(db: &sled::Db) -> sled::IVec {
        db.iter().keys().next().unwrap().unwrap()
    }

    #[test]
    fn an_entry_that_vanished_in_silence_is_noticed() {
        assert!(tampered(|_| ()).is_ok());
        let error = tampered(|db| drop(db.remove(first_key(db)))).err().unwrap();
        assert!(
            error.to_string().contains("should contain 10 entries"),
            "{error}"
        );
    }

    #[test]
    fn an_older_value_that_came_back_is_noticed() {
        let old = tampered(|db| {
            let key = String::from_utf8(first_key(db).to_vec()).unwrap();
            let StoreEntry::Trial(mut trial) =
                value::decode_entry(&key, &db.get(&key).unwrap().unwrap()).unwrap()
            else {
                panic!("not a trial");
            };
            trial.compile_ns += 1;
            let bytes = value::encode(&key, &StoreEntry::Trial(trial)).unwrap();
            db.insert(key, bytes).unwrap();
        });
        assert!(matches!(old, Err(StoreError::Damaged { .. })));
    }

    #[test]
    fn lost_book_keeping_is_noticed() {
        let lost = tampered(|db| drop(db.remove(TOTALS_KEY)));
        assert!(matches!(lost, Err(StoreError::Damaged { .. })));
    }

    #[test]
    fn a_full_disk_is_not_called_a_damaged_database() {
        // Sled copies its errors, and a copy has the kind and the text, but no number.
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded] {
            let told = translated(sled::Error::Io(io::Error::new(kind, "no space left")));
            assert!(matches!(told, StoreError::Failed { .. }), "{told}");
        }
        let damaged = io::Error::new(io::ErrorKind::InvalidData, "bad crc");
        let told = translated(sled::Error::Io(damaged));
        assert!(matches!(told, StoreError::Damaged { .. }), "{told}");
    }

    #[test]
    fn a_foreign_key_is_noticed() {
        let foreign = tampered(|db| drop(db.insert([0xff, 0xfe], "x")));
        assert!(matches!(foreign, Err(StoreError::Damaged { .. })));
    }
}
