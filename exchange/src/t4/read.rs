//! Reads T4 results files. T4 is an exchange format for auto-tuning results.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::lines::offset_of;
use crate::recording::error::{ConfigProblem, FileProblem, TextFault};
use crate::recording::invalidity::Invalidity;
use crate::recording::model::RecordedTrial;
use crate::recording::param::{RecordedParam, spelled};
use crate::recording::table::{
    FAILED_FROM_MS, RecordedRow, RecordedTable, lookups, milliseconds, positions, shown,
};

/// The fields of a results file. They borrow the file's text, so errors can report lines.
#[derive(Deserialize)]
struct ResultsFile<'a> {
    #[serde(default)]
    metadata: Map<String, Value>,
    #[serde(borrow)]
    results: Vec<&'a RawValue>,
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
    #[serde(default)]
    unit: String,
}

/// Reads the text of a results file.
pub(crate) fn table(text: &str) -> Result<RecordedTable, TextFault> {
    let file: ResultsFile<'_> = serde_json::from_str(text)
        .map_err(|error| TextFault::json(text, text, "the file", &error))?;
    let unit = match file.metadata.get("timeunit") {
        None => 1.0,
        Some(unit) => milliseconds_in(unit.as_str().unwrap_or_default()).ok_or_else(|| {
            let found = shown(unit);
            TextFault::field(text, "timeunit", FileProblem::UnknownUnit { found })
        })?,
    };
    let read = |(place, raw): (usize, &&RawValue)| {
        let field = format!("`results[{place}]`");
        serde_json::from_str::<ResultEntry>(raw.get())
            .map_err(|error| TextFault::json(text, raw.get(), &field, &error))
    };
    let results = file.results.iter().enumerate().map(read);
    let results: Vec<ResultEntry> = results.collect::<Result<_, _>>()?;
    let params = params(&results);
    let lookup = lookups(&params);
    let row = |((place, result), raw): ((usize, &ResultEntry), &&RawValue)| {
        let name = format!("results[{place}]");
        let wrong = |problem| TextFault::config(text, raw.get(), &name, problem);
        let positions = config(&params, &lookup, result).map_err(wrong)?;
        let entry = entry(result, unit).map_err(wrong)?;
        let offset = offset_of(text, raw.get());
        Ok(RecordedRow {
            name,
            offset,
            positions,
            entry,
        })
    };
    let rows = results.iter().enumerate().zip(&file.results).map(row);
    let device = file.metadata.get("device_name").and_then(Value::as_str);
    Ok(RecordedTable {
        rows: rows.collect::<Result<_, TextFault>>()?,
        params,
        device: device.map(str::to_owned),
    })
}

/// The number of milliseconds in a unit of time; `None` for an unknown unit.
fn milliseconds_in(unit: &str) -> Option<f64> {
    match unit {
        "milliseconds" | "miliseconds" | "ms" => Some(1.0),
        "microseconds" | "us" => Some(1e-3),
        "nanoseconds" | "ns" => Some(1e-6),
        "seconds" | "s" => Some(1e3),
        _ => None,
    }
}

/// All parameters, with all values that occur in the results.
fn params(results: &[ResultEntry]) -> Vec<RecordedParam> {
    let mut values: BTreeMap<&str, BTreeMap<String, &Value>> = BTreeMap::new();
    for (name, value) in results.iter().flat_map(|result| &result.configuration) {
        let values = values.entry(name).or_default();
        values.insert(spelled(value), value);
    }
    let param = |(name, values): (&str, BTreeMap<String, &Value>)| {
        RecordedParam::new(name, &values.into_values().cloned().collect::<Vec<_>>())
    };
    values.into_iter().map(param).collect()
}

/// The positions of a result's values in the parameters' lists.
fn config(
    params: &[RecordedParam],
    lookup: &[std::collections::HashMap<String, u32>],
    result: &ResultEntry,
) -> Result<Vec<u32>, ConfigProblem> {
    let value = |param: &RecordedParam| {
        let value = result.configuration.get(&param.name).map(spelled);
        value.ok_or_else(|| ConfigProblem::MissingParam {
            param: param.name.clone(),
        })
    };
    let values = params.iter().map(value).collect::<Result<Vec<_>, _>>()?;
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    positions(params, lookup, &values)
}

fn entry(result: &ResultEntry, unit: f64) -> Result<RecordedTrial, ConfigProblem> {
    let invalidity = Invalidity::from_name(&result.invalidity).ok_or_else(|| {
        let found = result.invalidity.clone();
        ConfigProblem::UnknownInvalidity { found }
    })?;
    let part = |field: &'static str| milliseconds(result.times.get(field), field);
    let runtimes = result.times.get("runtimes").and_then(Value::as_array);
    let mut launches = 0.0;
    for runtime in runtimes.into_iter().flatten() {
        launches += milliseconds(Some(runtime), "runtimes")?;
    }
    // A tuner that does not record the times of single launches records the total time of all launches instead.
    let launches = match launches > 0.0 {
        true => launches,
        false => part("benchmark")?,
    };
    let time_ms = match invalidity {
        Invalidity::Correct => Some(time(result, unit)?),
        _ => None,
    };
    Ok(RecordedTrial {
        time_ms,
        cost_ms: (part("compilation")? + part("validation")? + launches) * unit,
        invalidity,
    })
}

/// The time of a correct result, in milliseconds. It is converted from the unit of the measurement or, if the
/// measurement has no unit, from the unit of the file.
fn time(result: &ResultEntry, unit: f64) -> Result<f64, ConfigProblem> {
    let measured = result.measurements.iter().find(|one| one.name == "time");
    let time = measured.and_then(|one| {
        let unit = match one.unit.as_str() {
            "" => unit,
            own => milliseconds_in(own)?,
        };
        Some(one.value.as_f64()? * unit)
    });
    time.filter(|time| *time > 0.0 && *time < FAILED_FROM_MS)
        .ok_or(ConfigProblem::CorrectWithoutTime)
}
