//! The journal: an append-only file of records, which is the authoritative record of every run.
//!
//! A record that [`Journal::append`] acknowledged is on disk. Each record has a checksum, a sequence number, and the
//! hash of all records before it. Damaged, missing and replaced records are therefore detected, and the other records
//! can still be read.

mod error;
mod frame;
mod raw;
mod read;
mod scan;

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use kiln_spec::{Hash, hash::Hasher};

pub use error::JournalError;

use crate::record::{RECORD_SCHEMA, Record};
use crate::store::Position;
use error::io_error;
use frame::{Frame, MAX_PAYLOAD};
pub use raw::{RawFrame, encode_after};
pub(crate) use read::chain_at;
pub use read::{Replayed, read};
pub use scan::JournalScan;

/// The open journal of a run. Only one process has it open, because that process holds the cache's lock.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    id: u64,
    last: u64,
    chain: Hash,
    length: u64,
    broken: bool,
}

impl Journal {
    /// Opens the journal at `path`, and creates an empty one if it does not exist.
    ///
    /// If the last record was written only in part, it was never acknowledged and is removed. Other damage is not
    /// repaired here, but is reported in the scan.
    ///
    /// # Errors
    /// The file cannot be read, is too large, or was written by a newer version. A file of a newer version is not
    /// changed.
    pub fn open(path: &Path) -> Result<(Journal, JournalScan), JournalError> {
        let survey = read::<JournalError>(path, u64::MAX, &mut |_, _| Ok(()))?.survey;
        let file = open_for_append(path)?;
        let mut length = file.metadata().map_err(io_error("read", path))?.len();
        if survey.torn_bytes > 0 && length - survey.torn_bytes == survey.sound_end {
            length = survey.sound_end;
            file.set_len(length).map_err(io_error("repair", path))?;
            file.sync_all().map_err(io_error("repair", path))?;
        }
        let journal = Journal {
            file,
            path: path.into(),
            id: survey.journal.unwrap_or_else(fresh_id),
            last: survey.last,
            chain: survey.chain.unwrap_or_else(frame::first_chain),
            length,
            broken: false,
        };
        Ok((journal, survey))
    }

    /// The journal's identity. A store has the identity of the journal that it follows.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Sequence number of the last record; 0 if the journal has no records.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The position of a store that has applied every record of the journal.
    pub fn position(&self) -> Position {
        Position {
            journal: self.id,
            sequence: self.last,
            chain: self.chain,
        }
    }

    /// The path of the journal's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends records, and returns the position of each. When the call returns, all of the records are on disk.
    ///
    /// # Errors
    /// The disk is full, another program changed the file, a record is invalid, or the journal is
    /// [broken](JournalError::Broken). In these cases none of the records is written, with two exceptions: if the final
    /// sync fails, or if partly written records cannot be removed, the content of the disk is unknown, and the journal
    /// is broken from then on.
    pub fn append(&mut self, records: &[Record]) -> Result<Vec<Position>, JournalError> {
        let (bytes, places) = encode(records, self.position())?;
        self.check_untouched()?;
        if let Err(source) = (&self.file).write_all(&bytes) {
            // A part of the records may have been written, so it is removed.
            let undone = self
                .file
                .set_len(self.length)
                .and_then(|()| self.file.sync_data());
            self.broken = undone.is_err();
            return Err(self.append_error(source));
        }
        if let Err(source) = self.file.sync_data() {
            // After a failed sync, the content of the disk is unknown.
            self.broken = true;
            return Err(self.append_error(source));
        }
        if let Some(last) = places.last() {
            (self.last, self.chain) = (last.sequence, last.chain);
        }
        self.length += bytes.len() as u64;
        Ok(places)
    }

    /// Replaces the journal atomically by a new one that has only `records`. If `keep` is a path, the old file is kept
    /// there.
    ///
    /// # Errors
    /// If the new file could not be written or renamed, the journal is as it was. If the folder could not be synced
    /// after that, the file is already replaced, and later calls of [`Self::append`] fail.
    pub fn rewrite(&mut self, records: &[Record], keep: Option<&Path>) -> Result<(), JournalError> {
        let start = Position {
            journal: fresh_id(),
            sequence: 0,
            chain: frame::first_chain(),
        };
        let (bytes, places) = encode(records, start)?;
        let end = places.last().copied().unwrap_or(start);
        let fresh = self.path.with_extension("new");
        let mut is_replaced = false;
        let written = write_durably(&fresh, &bytes).and_then(|file| {
            if let Some(keep) = keep {
                std::fs::hard_link(&self.path, keep)
                    .or_else(|_| std::fs::copy(&self.path, keep).map(drop))?;
            }
            std::fs::rename(&fresh, &self.path)?;
            is_replaced = true;
            sync_folder(&self.path)?;
            Ok(file)
        });
        let file = written.map_err(|source| {
            let _ = std::fs::remove_file(&fresh);
            // The path already leads to the new file, but the open file is the old one, so records that were appended
            // to it would be lost.
            self.broken |= is_replaced;
            self.append_error(source)
        })?;
        *self = Journal {
            file,
            path: std::mem::take(&mut self.path),
            id: end.journal,
            last: end.sequence,
            chain: end.chain,
            length: bytes.len() as u64,
            broken: false,
        };
        Ok(())
    }

    fn append_error(&self, source: io::Error) -> JournalError {
        JournalError::Append {
            path: self.path.clone(),
            source,
        }
    }

    /// Returns an error if an earlier write left the file in an unknown state, or if another program, which ignored the
    /// lock, changed the file.
    fn check_untouched(&self) -> Result<(), JournalError> {
        if self.broken {
            let path = self.path.clone();
            return Err(JournalError::Broken { path });
        }
        let found = self.file.metadata().map_err(io_error("read", &self.path))?;
        let removed = found.nlink() == 0;
        if !removed && found.len() == self.length {
            return Ok(());
        }
        Err(JournalError::Changed {
            path: self.path.clone(),
            expected: self.length,
            found: if removed { 0 } else { found.len() },
        })
    }
}

/// The frames of `records` after the position `at`, and the position of each record.
fn encode(records: &[Record], mut at: Position) -> Result<(Vec<u8>, Vec<Position>), JournalError> {
    let (mut bytes, mut places) = (Vec::new(), Vec::new());
    for record in records {
        record.check()?;
        let payload = serde_json::to_string(record)?;
        if payload.len() > MAX_PAYLOAD {
            return Err(JournalError::RecordTooLarge {
                bytes: payload.len(),
            });
        }
        let frame = Frame {
            version: RECORD_SCHEMA,
            journal: at.journal,
            sequence: at.sequence + 1,
            chain: at.chain,
            payload: &payload,
        };
        bytes.extend(frame.encode());
        at.sequence += 1;
        at.chain = frame.next_chain();
        places.push(at);
    }
    Ok((bytes, places))
}

fn open_for_append(path: &Path) -> Result<File, JournalError> {
    let existed = path.exists();
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
        .map_err(io_error("open", path))?;
    if !existed {
        sync_folder(path).map_err(io_error("create", path))?;
    }
    Ok(file)
}

fn write_durably(path: &Path, bytes: &[u8]) -> io::Result<File> {
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)?;
    file.set_len(0)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    Ok(file)
}

/// Syncs the folder of a file, so a new or renamed file is durable.
fn sync_folder(file: &Path) -> io::Result<()> {
    match file.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Creates a new journal identity from the time, the process id and a counter.
fn fresh_id() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = now.map_or(0, |time| time.as_nanos());
    Hasher::new("kiln.journal.id")
        .field(&nanos.to_le_bytes())
        .field(&std::process::id().to_le_bytes())
        .field(&COUNT.fetch_add(1, Ordering::Relaxed).to_le_bytes())
        .finish()
        .short()
}

#[cfg(test)]
mod tests;
