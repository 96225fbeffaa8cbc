//! T4 results files, the exchange format of auto-tuning results.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::Entry;
use super::error::Fault;
use super::param::{RecordedParam, spelled};
use super::read::{Table, lookups, milliseconds, positions};

#[derive(Deserialize)]
struct ResultsFile {
    #[serde(default)]
    metadata: Map<String, Value>,
    results: Vec<ResultEntry>,
}

#[derive(Deserialize)]
struct ResultEntry {
    configuration: BTreeMap<String, Value>,
    #[serde(default)]
    times: Map<String, Value>,
    invalidity: String,
    #[serde(default)]
    measurements: Vec<Measurement>,
}

#[derive(Deserialize)]
struct Measurement {
    name: String,
    value: Value,
}

/// Reads the text of a results file.
pub(super) fn table(text: &str) -> Result<Table, Fault> {
    let file: ResultsFile = serde_json::from_str(text).map_err(|error| Fault::json(&error))?;
    let unit = unit(&file.metadata)?;
    let params = params(&file.results);
    let lookup = lookups(&params);
    let row = |(place, result): (usize, &ResultEntry)| {
        let key = format!("results[{place}]");
        let value = |param: &RecordedParam| result.configuration.get(&param.name).map(spelled);
        let values: Vec<String> = params.iter().filter_map(value).collect();
        let positions = positions(&params, &lookup, &key, &values)?;
        let entry = entry(&key, result, unit)?;
        Ok((key, positions, entry))
    };
    let rows = file
        .results
        .iter()
        .enumerate()
        .map(row)
        .collect::<Result<_, Fault>>()?;
    Ok(Table { params, rows })
}

/// Milliseconds in the file's unit of time.
fn unit(metadata: &Map<String, Value>) -> Result<f64, Fault> {
    let Some(unit) = metadata.get("timeunit") else {
        return Ok(1.0);
    };
    match unit.as_str().unwrap_or_default() {
        "milliseconds" | "miliseconds" | "ms" => Ok(1.0),
        "microseconds" | "us" => Ok(1e-3),
        "nanoseconds" | "ns" => Ok(1e-6),
        "seconds" | "s" => Ok(1e3),
        _ => Err(Fault::new(format!(
            "field `metadata.timeunit`: {unit} is no known unit"
        ))),
    }
}

/// All parameters with all values that occur.
fn params(results: &[ResultEntry]) -> Vec<RecordedParam> {
    let mut values: BTreeMap<&str, BTreeMap<String, &Value>> = BTreeMap::new();
    for (name, value) in results.iter().flat_map(|result| &result.configuration) {
        values
            .entry(name)
            .or_default()
            .insert(spelled(value), value);
    }
    let param = |(name, values): (&str, BTreeMap<String, &Value>)| {
        RecordedParam::new(name, &values.into_values().cloned().collect::<Vec<_>>())
    };
    values.into_iter().map(param).collect()
}

fn entry(key: &str, result: &ResultEntry, unit: f64) -> Result<Entry, Fault> {
    let part = |field: &str| milliseconds(result.times.get(field), key, field);
    let runtimes = result.times.get("runtimes").and_then(Value::as_array);
    let launches: f64 = runtimes
        .into_iter()
        .flatten()
        .filter_map(Value::as_f64)
        .sum();
    let cost = part("compilation")? + part("validation")? + launches;
    let time_ms = if result.invalidity == "correct" {
        Some(time(key, result)? * unit)
    } else {
        None
    };
    Ok(Entry {
        time_ms,
        cost_ms: cost * unit,
    })
}

fn time(key: &str, result: &ResultEntry) -> Result<f64, Fault> {
    let measured = result.measurements.iter().find(|one| one.name == "time");
    let value = measured.map(|one| &one.value);
    let time = value
        .and_then(Value::as_f64)
        .filter(|time| time.is_finite() && *time > 0.0);
    time.ok_or_else(|| {
        Fault::at(
            key,
            "field `measurements`: a correct result has a `time` above 0",
        )
    })
}
