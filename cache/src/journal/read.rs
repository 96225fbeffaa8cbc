//! Reads a journal from its file without changing the file.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use kiln_spec::Hash;

use super::error::{JournalError, io_error};
use super::frame::MAX_BYTES;
use super::scan::{JournalScan, scan};
use crate::record::{RECORD_SCHEMA, Record};
use crate::store::Position;

/// The result of reading a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// The state of the journal.
    pub survey: JournalScan,
    /// Number of records that were passed to the receiver.
    pub records: u64,
    /// Number of undamaged records after the starting point that this version cannot decode.
    pub undecodable: u64,
}

/// Reads the journal at `path` without changing it. Calls `sink` with the position and content of every undamaged
/// record whose sequence number is larger than `after`. A missing file is an empty journal.
///
/// # Errors
/// The file cannot be read, is too large, or was written by a newer version, or `sink` returns an error. Damage is not
/// an error; [`Replayed::survey`] reports it.
pub fn read<E: From<JournalError>>(
    path: &Path,
    after: u64,
    sink: &mut dyn FnMut(Position, Record) -> Result<(), E>,
) -> Result<Replayed, E> {
    let Some(mut input) = open(path)? else {
        return Ok(Replayed::default());
    };
    let mut replayed = Replayed::default();
    let survey = scan::<ReadStop<E>>(&mut input, &mut |position, json| {
        if position.sequence <= after {
            return Ok(());
        }
        let Some(record) = decode(json) else {
            replayed.undecodable += 1;
            return Ok(());
        };
        replayed.records += 1;
        sink(position, record).map_err(ReadStop::Sink)
    });
    replayed.survey = survey.map_err(|stop| match stop {
        ReadStop::Sink(error) => error,
        ReadStop::Io(source) => io_error("read", path)(source).into(),
    })?;
    match replayed.survey.newer {
        None => Ok(replayed),
        Some(found) => Err(JournalError::Newer {
            path: path.into(),
            found,
            known: RECORD_SCHEMA,
        }
        .into()),
    }
}

/// The hash of all records up to and including number `sequence`; `None` if that record is damaged or missing.
///
/// # Errors
/// The file cannot be read, or is too large.
pub(crate) fn chain_at(path: &Path, sequence: u64) -> Result<Option<Hash>, JournalError> {
    let mut chain = None;
    let Some(mut input) = open(path)? else {
        return Ok(None);
    };
    scan::<io::Error>(&mut input, &mut |position, _| {
        if position.sequence == sequence {
            chain = Some(position.chain);
        }
        Ok(())
    })
    .map_err(io_error("read", path))?;
    Ok(chain)
}

/// Opens the file; `None` if it does not exist. A file that is too large is an error.
fn open(path: &Path) -> Result<Option<BufReader<File>>, JournalError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io_error("open", path)(error)),
    };
    let bytes = file.metadata().map_err(io_error("read", path))?.len();
    if bytes > MAX_BYTES {
        let path = path.into();
        return Err(JournalError::TooLarge { path, bytes });
    }
    Ok(Some(BufReader::with_capacity(1 << 16, file)))
}

/// Why a scan stopped: an error of the file, or an error of the receiver.
enum ReadStop<E> {
    Io(io::Error),
    Sink(E),
}

impl<E> From<io::Error> for ReadStop<E> {
    fn from(error: io::Error) -> ReadStop<E> {
        ReadStop::Io(error)
    }
}

pub(super) fn decode(json: &str) -> Option<Record> {
    let record: Record = serde_json::from_str(json).ok()?;
    record.check().ok()?;
    Some(record)
}
