//! Writes cache files as Kernel Tuner does: a header, then one line per config.

use serde_json::{Value, json};

use super::KernelTunerError;
use crate::recording::spelled;
use crate::results::json::{Ordered, line};
use crate::results::{ResultRow, Results};

/// The fields of an entry that are not parameters. A parameter cannot have one of these names.
const FIELDS: [&str; 9] = [
    "time",
    "times",
    "timestamp",
    "__error__",
    "compile_time",
    "verification_time",
    "benchmark_time",
    "strategy_time",
    "framework_time",
];

/// The text of the file. It ends as Kernel Tuner's own files do, so Kernel Tuner can append to it.
///
/// # Errors
/// A parameter has the name of a field, or a value has a comma. In the keys of the file, commas separate the values of
/// a config.
pub(crate) fn text(results: &Results) -> Result<String, KernelTunerError> {
    let params = &results.params;
    let names: Vec<&str> = params.iter().map(|(name, _)| name.as_str()).collect();
    for (name, values) in params {
        if FIELDS.contains(&name.as_str()) {
            return Err(KernelTunerError::ParamIsField { name: name.clone() });
        }
        if let Some(value) = values.iter().map(spelled).find(|value| value.contains(',')) {
            return Err(KernelTunerError::ValueHasComma {
                name: name.clone(),
                value,
            });
        }
    }
    let listed = params
        .iter()
        .map(|(name, values)| (name.as_str(), values))
        .collect();
    let header = [
        ("device_name", line(&results.device)),
        ("kernel_name", line(&results.kernel)),
        ("problem_size", line(&results.sizes())),
        ("tune_params_keys", line(&names)),
        ("tune_params", line(&Ordered(listed))),
        ("objective", line(&"time")),
    ];
    let header = header.map(|(name, value)| format!("\"{name}\": {value}"));
    let rows: Vec<String> = results.rows.iter().map(|row| entry(&names, row)).collect();
    let (header, rows) = (header.join(",\n"), rows.join(",\n"));
    Ok(format!("{{\n{header},\n\"cache\": {{\n{rows}\n}}\n}}"))
}

fn entry(names: &[&str], row: &ResultRow) -> String {
    let key: Vec<String> = row.values.iter().map(spelled).collect();
    let mut fields: Vec<(&str, Value)> = names
        .iter()
        .copied()
        .zip(row.values.iter().cloned())
        .collect();
    if let Some(time) = row.time_ms {
        fields.push(("time", json!(time)));
    }
    if let Some(error) = row.invalidity.in_cache_files() {
        fields.push(("__error__", json!(error)));
    }
    fields.extend([
        ("compile_time", json!(row.compile_ms)),
        ("verification_time", json!(row.verify_ms)),
        ("benchmark_time", json!(row.measure_ms)),
        ("strategy_time", json!(0)),
        ("framework_time", json!(0)),
    ]);
    format!("{}: {}", line(&key.join(",")), line(&Ordered(fields)))
}
