//! Reads cache files of Kernel Tuner.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::lines::offset_of;
use crate::recording::error::{ConfigProblem, FileProblem, TextFault};
use crate::recording::invalidity::Invalidity;
use crate::recording::model::RecordedTrial;
use crate::recording::param::RecordedParam;
use crate::recording::table::{
    FAILED_FROM_MS, RecordedRow, RecordedTable, lookups, milliseconds, positions, shown,
};

/// The fields of a cache file. They borrow the file's text, so errors can report lines.
#[derive(Deserialize)]
struct CacheFile<'a> {
    #[serde(default)]
    device_name: Option<String>,
    tune_params_keys: Vec<String>,
    #[serde(borrow, default)]
    tune_params: Option<Entries<'a>>,
    #[serde(borrow)]
    cache: Entries<'a>,
}

/// The members of an object in the order of the file, including several members with the same name.
struct Entries<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Members).map(Entries)
    }
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

/// Reads the text of a cache file. The closing brackets of the file may be missing.
pub(crate) fn table(text: &str) -> Result<RecordedTable, TextFault> {
    let unread = |error: &serde_json::Error| TextFault::json(text, text, "the file", error);
    let text = match serde_json::from_str::<CacheFile<'_>>(text) {
        Err(error) if error.is_eof() => closed(text).ok_or_else(|| unread(&error))?,
        _ => Cow::Borrowed(text),
    };
    let file: CacheFile<'_> = serde_json::from_str(&text).map_err(|error| unread(&error))?;
    let rows = file.cache.0.iter();
    let keys: Vec<Vec<&str>> = rows.map(|(key, _)| key.split(',').collect()).collect();
    let params = params(&text, &file, &keys)?;
    let lookup = lookups(&params);
    let row = |((key, raw), values): (&(String, &RawValue), &Vec<&str>)| {
        let wrong = |problem| TextFault::config(&text, raw.get(), key, problem);
        let positions = positions(&params, &lookup, values).map_err(wrong)?;
        let recorded: CacheEntry = serde_json::from_str(raw.get())
            .map_err(|error| TextFault::json(&text, raw.get(), &format!("`{key}`"), &error))?;
        let entry = entry(&recorded).map_err(wrong)?;
        Ok(RecordedRow {
            name: key.clone(),
            offset: offset_of(&text, raw.get()),
            positions,
            entry,
        })
    };
    let rows = file.cache.0.iter().zip(&keys).map(row);
    let rows = rows.collect::<Result<_, TextFault>>()?;
    Ok(RecordedTable {
        params,
        rows,
        device: file.device_name,
    })
}

/// The text with its closing brackets added; `None` if the text has no `}`. Kernel Tuner appends an entry and a comma
/// for each config, and writes the closing brackets only when it is done.
fn closed(text: &str) -> Option<Cow<'_, str>> {
    let whole = &text[..=text.rfind('}')?];
    Some(format!("{whole}}}}}").into())
}

fn params(
    text: &str,
    file: &CacheFile<'_>,
    keys: &[Vec<&str>],
) -> Result<Vec<RecordedParam>, TextFault> {
    let names = &file.tune_params_keys;
    let mut seen = HashSet::new();
    if let Some(name) = names.iter().find(|name| !seen.insert(*name)) {
        let name = name.clone();
        let problem = FileProblem::DuplicateParam { name };
        return Err(TextFault::field(text, "tune_params_keys", problem));
    }
    let listed = file.tune_params.as_ref().map_or(&[][..], |all| &all.0);
    if listed.is_empty() {
        let seen = |place: usize| {
            let mut values: Vec<&str> = keys
                .iter()
                .filter_map(|key| key.get(place).copied())
                .collect();
            values.sort_unstable();
            values.dedup();
            values.into_iter().map(Value::from).collect::<Vec<_>>()
        };
        // If a key has more or fewer values than there are parameters, an error is reported later, so this function
        // need not report it.
        let longest = keys.iter().map(Vec::len).max().unwrap_or_default();
        let names = names.iter().enumerate();
        return Ok(names
            .map(|(place, name)| {
                RecordedParam::new(
                    name,
                    &if place < longest {
                        seen(place)
                    } else {
                        Vec::new()
                    },
                )
            })
            .collect());
    }
    let by_name: HashMap<&String, &RawValue> =
        listed.iter().map(|(name, raw)| (name, *raw)).collect();
    let values = |name: &String| {
        let missing = || {
            let name = name.clone();
            TextFault::field(text, "tune_params", FileProblem::MissingValues { name })
        };
        let raw = by_name.get(name).ok_or_else(missing)?;
        let field = format!("field `tune_params`: `{name}`");
        let values: Vec<Value> = serde_json::from_str(raw.get())
            .map_err(|error| TextFault::json(text, raw.get(), &field, &error))?;
        Ok(RecordedParam::new(name, &values))
    };
    names.iter().map(values).collect()
}

fn entry(recorded: &CacheEntry) -> Result<RecordedTrial, ConfigProblem> {
    let failed = |value: &Value| Invalidity::of_cache_files(value.as_str().unwrap_or_default());
    let (time_ms, invalidity) = match (&recorded.error, &recorded.time) {
        (Some(error), _) => (None, failed(error)),
        (None, Some(text @ Value::String(_))) => (None, failed(text)),
        (None, Some(Value::Number(time))) => match time.as_f64() {
            Some(time) if time < FAILED_FROM_MS => (Some(time), Invalidity::Correct),
            _ => (None, Invalidity::Runtime),
        },
        (None, Some(other)) => {
            let found = shown(other);
            return Err(ConfigProblem::TimeType { found });
        }
        (None, None) => return Err(ConfigProblem::MissingTime),
    };
    if time_ms.is_some_and(|time| time <= 0.0) {
        return Err(ConfigProblem::TimeNotPositive);
    }
    let parts = [
        ("compile_time", &recorded.compile_time),
        ("verification_time", &recorded.verification_time),
        ("benchmark_time", &recorded.benchmark_time),
    ];
    let costs = parts.map(|(field, value)| milliseconds(value.as_ref(), field));
    Ok(RecordedTrial {
        time_ms,
        cost_ms: costs.into_iter().sum::<Result<f64, _>>()?,
        invalidity,
    })
}
