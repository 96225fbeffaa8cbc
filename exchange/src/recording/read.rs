//! Reads a recording of either format, compressed or not.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use rayon::prelude::*;

use super::error::{ConfigProblem, FileProblem, RecordingError, TextFault, TextProblem};
use super::format::is_results;
use super::model::Recording;
use super::space::{RecordedSpace, Unpackable};
use super::table::RecordedRow;
use crate::kernel_tuner::read as kernel_tuner;
use crate::lines::line_at;
use crate::t4::read as t4;

/// Reads the recording in a file.
///
/// # Errors
/// The file cannot be read, or is not a recording.
pub fn read(path: &Path) -> Result<Recording, RecordingError> {
    parse(&text(path)?, name(path)).map_err(|fault| RecordingError::Text {
        path: path.to_owned(),
        fault,
    })
}

/// Reads several recordings in parallel.
///
/// # Errors
/// The error of [`read`] for one of the files.
pub fn read_all(paths: &[PathBuf]) -> Result<Vec<Recording>, RecordingError> {
    paths.par_iter().map(|path| read(path)).collect()
}

/// Reads a recording from its text. `name` is the name of the recording, `KERNEL@DEVICE`.
///
/// # Errors
/// The text is not a recording. The error has the line and the problem.
pub fn parse(text: &str, name: String) -> Result<Recording, TextFault> {
    let (table, field) = if is_results(text) {
        (t4::table(text)?, "results")
    } else {
        (kernel_tuner::table(text)?, "cache")
    };
    if table.rows.is_empty() {
        return Err(TextFault::field(text, field, FileProblem::NoConfigs));
    }
    if table.params.is_empty() {
        return Err(TextFault::field(text, field, FileProblem::NoParams));
    }
    let of_row = |row: &RecordedRow, problem| TextFault {
        line: line_at(text, row.offset),
        problem: TextProblem::Config {
            name: row.name.clone(),
            problem,
        },
    };
    if let Some(row) = table.rows.iter().find(|row| row.entry.cost_ms >= MAX_MS) {
        return Err(of_row(row, ConfigProblem::TimesTooLong));
    }
    let configs: Vec<&[u32]> = table.rows.iter().map(|row| &*row.positions).collect();
    let (space, order) =
        RecordedSpace::new(table.params, &configs).map_err(|error| match error {
            Unpackable::TooMany => TextFault::field(text, field, FileProblem::TooManyValues),
            Unpackable::Twice(row) => of_row(&table.rows[row], ConfigProblem::Duplicate),
        })?;
    let entries = order.iter().map(|&row| table.rows[row].entry).collect();
    Ok(Recording {
        name,
        device: table.device,
        space,
        entries,
    })
}

/// The largest cost of a config that is accepted, in milliseconds. It ensures that sums of costs stay finite.
const MAX_MS: f64 = 1e100;

/// The longest text of a recording, in bytes after decompression. Recordings of whole spaces have about ten megabytes.
const MAX_BYTES: u64 = 1 << 30;

/// Reads the text of a file, and decompresses it if necessary.
fn text(path: &Path) -> Result<String, RecordingError> {
    let path = || path.to_owned();
    let failed = |error| {
        let path = path();
        RecordingError::Read { path, error }
    };
    let mut file = BufReader::new(File::open(path()).map_err(failed)?);
    let is_compressed = file.fill_buf().map_err(failed)?.starts_with(&[0x1f, 0x8b]);
    let bytes = if is_compressed {
        limited(MultiGzDecoder::new(file), MAX_BYTES).map_err(|error| RecordingError::Gzip {
            path: path(),
            error,
        })
    } else {
        limited(file, MAX_BYTES).map_err(failed)
    };
    let bytes = bytes?.ok_or_else(|| RecordingError::TooLarge {
        path: path(),
        limit_bytes: MAX_BYTES,
    })?;
    String::from_utf8(bytes).map_err(|_| RecordingError::NotText { path: path() })
}

/// Reads `from` to its end; `None` if it has more than `max_bytes`.
fn limited(from: impl Read, max_bytes: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let read = from.take(max_bytes + 1).read_to_end(&mut bytes)?;
    Ok((read as u64 <= max_bytes).then_some(bytes))
}

/// The name of the file up to `.json`.
fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split(".json").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_up_to_the_limit_and_not_beyond() {
        assert_eq!(limited(&b"four"[..], 4).unwrap().unwrap(), b"four");
        assert_eq!(limited(&b"four"[..], 3).unwrap(), None);
    }
}
