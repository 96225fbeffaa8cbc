//! Reading a recording of either format, compressed or not.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde_json::Value;

use super::error::{Fault, RecordingError};
use super::param::RecordedParam;
use super::space::{RecordedSpace, Unpackable};
use super::{Entry, Recording, kernel_tuner, results};

const HELP: &str =
    "a recording is a cache file of Kernel Tuner or a T4 results file, as `.json` or `.json.gz`";

/// Parameters, and configs in the order of the file: key, positions and entry.
pub(super) struct Table {
    pub(super) params: Vec<RecordedParam>,
    pub(super) rows: Vec<(String, Vec<u32>, Entry)>,
}

/// Reads the recording in a file.
///
/// # Errors
/// What is wrong with the file, where and in which field.
pub fn read(path: &Path) -> Result<Recording, RecordingError> {
    let text = text(path).map_err(|reason| RecordingError {
        path: path.to_owned(),
        line: None,
        reason,
        help: HELP.into(),
    })?;
    let recording = parse(&text, name(path));
    recording.map_err(|fault| RecordingError {
        path: path.to_owned(),
        line: fault.line_in(&text),
        reason: fault.reason,
        help: HELP.into(),
    })
}

/// Reads recordings side by side.
///
/// # Errors
/// As [`read`]: that of the first file with any.
pub fn read_all(paths: &[PathBuf]) -> Result<Vec<Recording>, RecordingError> {
    paths.par_iter().map(|path| read(path)).collect()
}

/// The recording in a text.
pub(super) fn parse(text: &str, name: String) -> Result<Recording, Fault> {
    let table = if is_results(text) {
        results::table(text)?
    } else {
        kernel_tuner::table(text)?
    };
    if table.rows.is_empty() {
        return Err(Fault::new("field `cache`: no config is recorded"));
    }
    let configs: Vec<Vec<u32>> = table.rows.iter().map(|row| row.1.clone()).collect();
    let (space, order) =
        RecordedSpace::new(table.params, &configs).map_err(|error| match error {
            Unpackable::TooMany => {
                Fault::new("the parameters have too many values to number their configs")
            }
            Unpackable::Twice(row) => {
                Fault::at(&table.rows[row].0, "this config was recorded before")
            }
        })?;
    let entries = order.iter().map(|&row| table.rows[row].2).collect();
    Ok(Recording {
        name,
        space,
        entries,
    })
}

/// Positions of the values of a config, spelled in the order of the parameters.
pub(super) fn positions(
    params: &[RecordedParam],
    lookup: &[HashMap<String, u32>],
    key: &str,
    values: &[String],
) -> Result<Vec<u32>, Fault> {
    if values.len() != params.len() {
        let (found, wanted) = (values.len(), params.len());
        return Err(Fault::at(
            key,
            format!("{found} values for {wanted} parameters"),
        ));
    }
    let place = |((param, lookup), value): ((&RecordedParam, &HashMap<String, u32>), &String)| {
        let unlisted = || {
            Fault::at(
                key,
                format!("field `{}`: the value `{value}` is not listed", param.name),
            )
        };
        lookup.get(value).copied().ok_or_else(unlisted)
    };
    params.iter().zip(lookup).zip(values).map(place).collect()
}

/// For each parameter the positions of its values.
pub(super) fn lookups(params: &[RecordedParam]) -> Vec<HashMap<String, u32>> {
    let lookup = |param: &RecordedParam| param.texts.iter().cloned().zip(0..).collect();
    params.iter().map(lookup).collect()
}

/// A time in milliseconds that must be a number of at least 0 where it is given.
pub(super) fn milliseconds(value: Option<&Value>, key: &str, field: &str) -> Result<f64, Fault> {
    let wrong = |value: &Value| Fault::at(key, format!("field `{field}`: {value} is no time"));
    match value {
        None | Some(Value::Null) => Ok(0.0),
        Some(value) => {
            let number = value
                .as_f64()
                .filter(|number| number.is_finite() && *number >= 0.0);
            number.ok_or_else(|| wrong(value))
        }
    }
}

fn is_results(text: &str) -> bool {
    let start = text
        .char_indices()
        .nth(2_000)
        .map_or(text, |(end, _)| &text[..end]);
    start.contains("\"results\"") && !start.contains("\"cache\"")
}

fn text(path: &Path) -> Result<String, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("cannot be read: {error}"))?;
    let bytes = if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut plain = Vec::new();
        let mut decoder = flate2::read::MultiGzDecoder::new(&bytes[..]);
        let read = decoder.read_to_end(&mut plain);
        read.map_err(|error| format!("damaged gzip data: {error}"))?;
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
