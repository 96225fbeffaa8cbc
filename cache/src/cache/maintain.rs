//! Maintenance of a cache: verify, count, export, compact, clear.

use std::io::{self, Write};
use std::path::PathBuf;

use super::folder::{ARTIFACTS, IMPORTS, JOURNAL, STORE, bytes_under};
use super::options::OpenOptions;
use super::report::{Stats, VerifyReport};
use super::{Cache, Inner};
use crate::error::CacheError;
use crate::journal;
use crate::record::RECORD_SCHEMA;
use crate::set_aside;
use crate::store::{MemoryStore, SledStore, Store, StoreEntry, state};

impl Cache {
    /// Reads the journal and the store completely, and compares them.
    ///
    /// # Errors
    /// The journal cannot be read. Damage of the journal or the store is not an error; it is in the report.
    pub fn verify(&self) -> Result<VerifyReport, CacheError> {
        let inner = self.lock();
        let mut replica = MemoryStore::new();
        let path = self.folder.join(JOURNAL);
        let read = journal::read::<CacheError>(&path, 0, &mut |position, record| {
            Ok(state::apply(&mut replica, &record, position)?)
        })?;
        let store = inner.store.as_ref();
        let agree = || replica.totals().agree(&store.totals());
        let fault = store.check().and_then(|()| agree()).err();
        Ok(VerifyReport {
            journal_records: read.survey.sound,
            journal_damaged: read.survey.damaged + u64::from(read.survey.torn_bytes > 0),
            journal_missing: read.survey.lost_after(0),
            store_entries: store.totals().entries,
            lost_in_repair: self.lost_in_repair,
            store_fault: fault.map(|error| error.to_string()),
        })
    }

    /// Counts the entries of the cache, and measures the sizes of its files.
    ///
    /// # Errors
    /// The cache cannot be read.
    pub fn stats(&self) -> Result<Stats, CacheError> {
        let mut stats = self.read(|store| {
            let mut stats = Stats::default();
            store.scan("", &mut |entry| stats.count(&entry))?;
            Ok(stats)
        })?;
        let size = |name: &str| bytes_under(&self.folder.join(name)).map_err(self.unusable());
        stats.journal_bytes = size(JOURNAL)?;
        stats.store_bytes = size(STORE)?;
        stats.artifact_bytes = size(ARTIFACTS)?;
        stats.import_bytes = size(IMPORTS)?;
        stats.set_aside = self.set_aside().map_err(self.unusable())?;
        Ok(stats)
    }

    /// Writes all entries as one JSON document with one entry per line, which can be read without Kiln.
    ///
    /// # Errors
    /// The cache cannot be read, or `out` cannot be written.
    pub fn export_json(&self, out: &mut dyn Write) -> Result<(), CacheError> {
        let entries = self.collect("", Some)?;
        write_export(&entries, out).map_err(CacheError::Export)
    }

    /// Replaces the journal atomically by one that has only the records that are still needed.
    ///
    /// # Errors
    /// The cache was opened only for reading, or the new journal could not be written. The old journal is unchanged.
    pub fn compact(&self) -> Result<(), CacheError> {
        let mut inner = self.lock();
        let Inner { journal, store, .. } = &mut *inner;
        let Some(journal) = journal else {
            return Err(self.read_only());
        };
        journal.rewrite(&state::records(store.as_ref())?, None)?;
        match store.apply(&[], journal.position()) {
            Ok(()) => Ok(()),
            Err(error) => inner.abandon_store(&error),
        }
    }

    /// Removes all trials, winners, records, artifacts, pulled results, and files that were set aside as damaged. Files
    /// that were set aside because a newer version wrote them are kept.
    ///
    /// # Errors
    /// The cache was opened only for reading, a file could not be removed, or the empty journal or database could not
    /// be created.
    pub fn clear(&self) -> Result<(), CacheError> {
        let mut inner = self.lock();
        let Inner { journal, store, .. } = &mut *inner;
        let Some(journal) = journal else {
            return Err(self.read_only());
        };
        // The database is removed first, so that an interruption cannot leave a full database next to an empty journal.
        *store = Box::new(MemoryStore::new());
        let mut doomed = self.set_aside().map_err(self.unusable())?;
        doomed.retain(|path| !path.to_string_lossy().contains(".newer-"));
        doomed.extend([STORE, ARTIFACTS, IMPORTS].map(|name| self.folder.join(name)));
        for path in doomed.iter().filter(|path| path.exists()) {
            set_aside::remove(path).map_err(self.unusable())?;
        }
        journal.rewrite(&[], None)?;
        let deadline = OpenOptions::new().deadline;
        *store = Box::new(SledStore::open_within(&self.folder.join(STORE), deadline)?);
        Ok(())
    }

    fn set_aside(&self) -> io::Result<Vec<PathBuf>> {
        let store = self.folder.join(STORE);
        let mut found = set_aside::list(&store, "corrupt")?;
        found.extend(set_aside::list(&store, "newer")?);
        found.extend(set_aside::list(&self.folder.join(JOURNAL), "damaged")?);
        Ok(found)
    }

    fn unusable(&self) -> impl Fn(io::Error) -> CacheError + '_ {
        |source| CacheError::Folder {
            path: self.folder.clone(),
            source,
        }
    }
}

fn write_export(entries: &[StoreEntry], out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{{\"kiln_cache\":{RECORD_SCHEMA},\"entries\":[")?;
    for (at, entry) in entries.iter().enumerate() {
        out.write_all(if at == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, entry)?;
    }
    out.write_all(b"\n]}\n")?;
    out.flush()
}
