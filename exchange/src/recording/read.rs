//! Reads a recording of either format, compressed or not.

use std::io::Read;
use std::path::{Path, PathBuf};

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

/// Reads a recording from its text. `name` is `KERNEL@DEVICE`.
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

/// Limit of the cost of a config, in milliseconds. Sums of smaller costs stay finite.
const MAX_MS: f64 = 1e100;

/// The longest text that is unpacked from a compressed file, in bytes. Recordings of whole spaces have about ten
/// megabytes.
const MAX_BYTES: u64 = 1 << 30;

/// Reads the text of a file, and unpacks it if it is compressed.
fn text(path: &Path) -> Result<String, RecordingError> {
    let path = || path.to_owned();
    let bytes = std::fs::read(path()).map_err(|error| RecordingError::Read {
        path: path(),
        error,
    })?;
    let bytes = if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut plain = Vec::new();
        let mut decoder = flate2::read::MultiGzDecoder::new(&bytes[..]).take(MAX_BYTES + 1);
        let read = decoder.read_to_end(&mut plain);
        let read = read.map_err(|error| RecordingError::Gzip {
            path: path(),
            error,
        })?;
        if read as u64 > MAX_BYTES {
            return Err(RecordingError::TooLarge {
                path: path(),
                limit_bytes: MAX_BYTES,
            });
        }
        plain
    } else {
        bytes
    };
    String::from_utf8(bytes).map_err(|_| RecordingError::NotText { path: path() })
}

/// The name of the file up to `.json`.
fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split(".json").next().unwrap_or_default().to_owned()
}
