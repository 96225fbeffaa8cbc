//! Cache files of Kernel Tuner.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

use super::Entry;
use super::error::Fault;
use super::param::RecordedParam;
use super::read::{Table, lookups, milliseconds, positions};

#[derive(Deserialize)]
struct CacheFile {
    tune_params_keys: Vec<String>,
    #[serde(default)]
    tune_params: HashMap<String, Vec<Value>>,
    cache: HashMap<String, CacheEntry>,
}

#[derive(Deserialize)]
struct CacheEntry {
    #[serde(default)]
    time: Option<Value>,
    #[serde(default)]
    compile_time: Option<Value>,
    #[serde(default)]
    verification_time: Option<Value>,
    #[serde(default)]
    benchmark_time: Option<Value>,
    #[serde(default, rename = "__error__")]
    error: Option<Value>,
}

/// Times from here on stand for failures in old files.
const FAILED_FROM_MS: f64 = 1e20;

/// Reads the text of a cache file, also one that was never closed.
pub(super) fn table(text: &str) -> Result<Table, Fault> {
    let file: CacheFile = match serde_json::from_str(text) {
        Err(error) if error.is_eof() => {
            let closed = closed(text).ok_or_else(|| Fault::json(&error))?;
            serde_json::from_str(&closed).map_err(|_| Fault::json(&error))?
        }
        other => other.map_err(|error| Fault::json(&error))?,
    };
    let params = params(&file)?;
    let lookup = lookups(&params);
    let mut keys: Vec<&String> = file.cache.keys().collect();
    keys.sort();
    let row = |key: &String| {
        let values: Vec<String> = key.split(',').map(str::to_owned).collect();
        let positions = positions(&params, &lookup, key, &values)?;
        Ok((key.clone(), positions, entry(key, &file.cache[key])?))
    };
    let rows = keys.into_iter().map(row).collect::<Result<_, Fault>>()?;
    Ok(Table { params, rows })
}

/// The text with what the recorder had still to write: it appends entries, each with a comma, and closes the file last.
fn closed(text: &str) -> Option<Cow<'_, str>> {
    let whole = &text[..=text.rfind('}')?];
    Some(format!("{whole}}}}}").into())
}

fn params(file: &CacheFile) -> Result<Vec<RecordedParam>, Fault> {
    let names = &file.tune_params_keys;
    if file.tune_params.is_empty() {
        let seen = |place: usize| {
            let values = file
                .cache
                .keys()
                .filter_map(move |key| key.split(',').nth(place));
            let mut values: Vec<&str> = values.collect();
            values.sort_unstable();
            values.dedup();
            values.into_iter().map(Value::from).collect::<Vec<_>>()
        };
        return Ok(names
            .iter()
            .enumerate()
            .map(|(place, name)| RecordedParam::new(name, &seen(place)))
            .collect());
    }
    let listed = |name: &String| {
        let missing = || Fault::new(format!("field `tune_params`: no values for `{name}`"));
        let values = file.tune_params.get(name).ok_or_else(missing)?;
        Ok(RecordedParam::new(name, values))
    };
    names.iter().map(listed).collect()
}

fn entry(key: &str, recorded: &CacheEntry) -> Result<Entry, Fault> {
    let time_ms = match &recorded.time {
        _ if recorded.error.is_some() => None,
        Some(Value::String(_)) => None,
        Some(Value::Number(time)) => time.as_f64().filter(|time| *time < FAILED_FROM_MS),
        Some(other) => {
            return Err(Fault::at(
                key,
                format!("field `time`: {other} is neither a time nor a failure"),
            ));
        }
        None => return Err(Fault::at(key, "field `time`: missing")),
    };
    if time_ms.is_some_and(|time| time <= 0.0) {
        return Err(Fault::at(key, "field `time`: not above 0"));
    }
    let parts = [
        ("compile_time", &recorded.compile_time),
        ("verification_time", &recorded.verification_time),
        ("benchmark_time", &recorded.benchmark_time),
    ];
    let costs = parts.map(|(field, value)| milliseconds(value.as_ref(), key, field));
    let cost_ms = costs.into_iter().sum::<Result<f64, Fault>>()?;
    Ok(Entry { time_ms, cost_ms })
}
