//! The content of a file of either format: parameters, and one row per config.

use std::collections::HashMap;

use serde_json::Value;

use super::error::ConfigProblem;
use super::model::RecordedTrial;
use super::param::RecordedParam;

/// Old files represent a failure by a time of at least this many milliseconds.
pub(crate) const FAILED_FROM_MS: f64 = 1e20;

/// A recorded config.
pub(crate) struct RecordedRow {
    /// Name of the config in the file.
    pub(crate) name: String,
    /// Offset of the config in the text, in bytes.
    pub(crate) offset: usize,
    pub(crate) positions: Vec<u32>,
    pub(crate) entry: RecordedTrial,
}

/// The parameters of a file, and its configs in the order of the file.
pub(crate) struct RecordedTable {
    pub(crate) params: Vec<RecordedParam>,
    pub(crate) rows: Vec<RecordedRow>,
    /// Name of the device; `None` if the file does not have it.
    pub(crate) device: Option<String>,
}

/// For each parameter, the position of the config's value in the parameter's list of values. `values` contains the
/// config's values as texts, one per parameter.
pub(crate) fn positions(
    params: &[RecordedParam],
    lookup: &[HashMap<String, u32>],
    values: &[&str],
) -> Result<Vec<u32>, ConfigProblem> {
    if values.len() != params.len() {
        let (found, wanted) = (values.len(), params.len());
        return Err(ConfigProblem::ValueCount { found, wanted });
    }
    let place = |((param, lookup), value): ((&RecordedParam, &HashMap<String, u32>), &&str)| {
        let unlisted = || ConfigProblem::UnlistedValue {
            param: param.name.clone(),
            value: (*value).to_owned(),
        };
        lookup.get(*value).copied().ok_or_else(unlisted)
    };
    params.iter().zip(lookup).zip(values).map(place).collect()
}

/// For each parameter, a map from the text of a value to the position of the value.
pub(crate) fn lookups(params: &[RecordedParam]) -> Vec<HashMap<String, u32>> {
    let lookup = |param: &RecordedParam| param.texts.iter().cloned().zip(0..).collect();
    params.iter().map(lookup).collect()
}

/// Reads a time in milliseconds: a number of at least 0, or 0 if it is missing.
pub(crate) fn milliseconds(
    value: Option<&Value>,
    field: &'static str,
) -> Result<f64, ConfigProblem> {
    match value {
        None | Some(Value::Null) => Ok(0.0),
        Some(value) => {
            let number = value
                .as_f64()
                .filter(|number| number.is_finite() && *number >= 0.0);
            number.ok_or_else(|| ConfigProblem::NotATime {
                field,
                found: shown(value),
            })
        }
    }
}

/// A value as the file contains it, shortened if it is long.
pub(crate) fn shown(value: &Value) -> String {
    value.to_string().chars().take(40).collect()
}
