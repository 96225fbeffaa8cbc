//! Converts a recording to results, so a file of one format can be written in another format.

use serde_json::Value;

use super::{ResultRow, Results};
use crate::recording::{RecordedParam, Recording};
use kiln_search::SpaceView;

/// The results of a recording. A recording has only the total time to compile, verify and measure a config. The results
/// contain this total as the compile time.
pub fn of_recording(recording: &Recording) -> Results {
    let params = recording.space.params();
    let values: Vec<Vec<Value>> = params.iter().map(values).collect();
    let row = |(index, entry): (usize, &crate::recording::RecordedTrial)| {
        let positions = recording.space.positions(index);
        let value = |(values, position): (&Vec<Value>, &u32)| values[*position as usize].clone();
        ResultRow {
            values: values.iter().zip(&positions).map(value).collect(),
            invalidity: entry.invalidity,
            time_ms: entry.time_ms,
            compile_ms: entry.cost_ms,
            ..ResultRow::default()
        }
    };
    let (kernel, device) = recording
        .name
        .split_once('@')
        .unwrap_or((&recording.name, ""));
    Results {
        kernel: kernel.to_owned(),
        device: recording
            .device
            .clone()
            .unwrap_or_else(|| device.to_owned()),
        params: params
            .iter()
            .map(|param| param.name.clone())
            .zip(values.clone())
            .collect(),
        rows: recording.entries.iter().enumerate().map(row).collect(),
        ..Results::default()
    }
}

/// The values of a parameter, as JSON values whose text is the recorded one.
fn values(param: &RecordedParam) -> Vec<Value> {
    param.texts.iter().map(|text| value(text)).collect()
}

fn value(text: &str) -> Value {
    let plain = match text {
        "True" => Some(Value::Bool(true)),
        "False" => Some(Value::Bool(false)),
        _ => text.parse::<serde_json::Number>().ok().map(Value::Number),
    };
    let plain = plain.filter(|value| crate::recording::spelled(value) == text);
    plain.unwrap_or_else(|| Value::String(text.to_owned()))
}
