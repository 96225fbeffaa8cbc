//! Reading a recording of either format, compressed or not.

use std::io::Read;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::error::{RecordingError, TextFault};
use super::format::is_results;
use super::model::Recording;
use super::space::{RecordedSpace, Unpackable};
use super::table::Row;
use crate::kernel_tuner::read as kernel_tuner;
use crate::lines::line_at;
use crate::t4::read as t4;

const HELP: &str =
    "a recording is a cache file of Kernel Tuner or a T4 results file, as `.json` or `.json.gz`";

/// Reads the recording in a file.
///
/// # Errors
/// What is wrong with the file, where and in which field.
pub fn read(path: &Path) -> Result<Recording, RecordingError> {
    let wrong = |line: Option<usize>, reason: String| RecordingError {
        path: path.to_owned(),
        line,
        reason,
        help: HELP.into(),
    };
    let text = text(path).map_err(|reason| wrong(None, reason))?;
    parse(&text, name(path)).map_err(|fault| wrong(Some(fault.line), fault.reason))
}

/// Reads recordings side by side.
///
/// # Errors
/// As [`read`]: that of the first file with any.
pub fn read_all(paths: &[PathBuf]) -> Result<Vec<Recording>, RecordingError> {
    paths.par_iter().map(|path| read(path)).collect()
}

/// The recording in a text; `name` is `KERNEL@DEVICE`.
///
/// # Errors
/// What is wrong, with line and field.
pub fn parse(text: &str, name: String) -> Result<Recording, TextFault> {
    let (table, field) = if is_results(text) {
        (t4::table(text)?, "results")
    } else {
        (kernel_tuner::table(text)?, "cache")
    };
    if table.rows.is_empty() {
        return Err(TextFault::field(text, field, "no config is recorded"));
    }
    if table.params.is_empty() {
        return Err(TextFault::field(
            text,
            field,
            "the configs have no parameters",
        ));
    }
    if let Some(row) = table.rows.iter().find(|row| row.entry.cost_ms >= MAX_MS) {
        let line = line_at(text, row.offset);
        let reason = format!("`{}`: its times are too long", row.name);
        return Err(TextFault { line, reason });
    }
    let configs: Vec<&[u32]> = table.rows.iter().map(|row| &*row.positions).collect();
    let (space, order) =
        RecordedSpace::new(table.params, &configs).map_err(|error| match error {
            Unpackable::TooMany => {
                let reason = "the parameters have too many values to number their configs";
                TextFault::field(text, field, reason)
            }
            Unpackable::Twice(row) => {
                let Row { name, offset, .. } = &table.rows[row];
                let reason = format!("`{name}`: this config was recorded before");
                let line = line_at(text, *offset);
                TextFault { line, reason }
            }
        })?;
    let entries = order.iter().map(|&row| table.rows[row].entry).collect();
    Ok(Recording {
        name,
        device: table.device,
        space,
        entries,
    })
}

/// What it took to try a config is shorter than this, so that sums stay finite.
const MAX_MS: f64 = 1e100;

/// The longest text that is read: recordings of whole spaces have some ten megabytes.
const MAX_BYTES: u64 = 1 << 30;

fn text(path: &Path) -> Result<String, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("cannot be read: {error}"))?;
    let bytes = if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut plain = Vec::new();
        let mut decoder = flate2::read::MultiGzDecoder::new(&bytes[..]).take(MAX_BYTES + 1);
        let read = decoder.read_to_end(&mut plain);
        let read = read.map_err(|error| format!("damaged gzip data: {error}"))?;
        if read as u64 > MAX_BYTES {
            return Err(format!("more than {MAX_BYTES} bytes when unpacked"));
        }
        plain
    } else {
        bytes
    };
    String::from_utf8(bytes).map_err(|_| "no text in UTF-8".into())
}

/// The file's name up to `.json`.
fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split(".json").next().unwrap_or_default().to_owned()
}
