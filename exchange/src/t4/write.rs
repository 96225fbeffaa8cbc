//! Writes T4 results files, in version 1.0.0 of the schema that Kernel Tuner 1.5.0 includes.

use serde_json::{Value, json};

use crate::recording::Invalidity;
use crate::results::json::{Ordered, line};
use crate::results::{ResultRow, Results};

/// The text of the file.
pub(crate) fn text(results: &Results) -> String {
    let names: Vec<&str> = results
        .params
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    let rows: Vec<String> = results.rows.iter().map(|row| result(&names, row)).collect();
    format!(
        "{{\n\"schema_version\": \"1.0.0\",\n\"metadata\": {},\n\"results\": [\n{}\n]\n}}\n",
        metadata(results),
        rows.join(",\n")
    )
}

/// The metadata: the fields that T4's schema of metadata requires, and the unit of the times.
fn metadata(results: &Results) -> String {
    let problem: Vec<(&str, &Value)> = results
        .problem
        .iter()
        .map(|(name, value)| (name.as_str(), value))
        .collect();
    let environment = results
        .environment
        .iter()
        .map(|(name, value)| (name.as_str(), value));
    let versions = [format!("kiln=={}", env!("CARGO_PKG_VERSION"))];
    let fields = [
        ("timeunit", line(&"milliseconds")),
        ("kernel_name", line(&results.kernel)),
        ("device_name", line(&results.device)),
        ("problem", line(&Ordered(problem))),
        ("operating_system", line(&operating_system())),
        (
            "hardware",
            line(&json!({"hardware_description": [{"device": results.device}]})),
        ),
        (
            "environment",
            format!(
                "{{\"device_query\": {}, \"requirements\": {}}}",
                line(&Ordered(environment.collect())),
                line(&versions)
            ),
        ),
    ];
    let fields: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("\"{name}\": {value}"))
        .collect();
    format!("{{{}}}", fields.join(", "))
}

fn operating_system() -> &'static str {
    match std::env::consts::OS {
        "linux" => "Linux",
        "windows" => "Windows",
        "macos" => "Mac",
        other => other,
    }
}

fn result(names: &[&str], row: &ResultRow) -> String {
    let config = names.iter().copied().zip(&row.values).collect();
    // T4's correctness is a number: 1 if the outputs were found right, otherwise 0.
    let correctness = u8::from(row.invalidity == Invalidity::Correct);
    let times = json!({
        "compilation": row.compile_ms,
        "framework": 0,
        "search_algorithm": 0,
        "validation": row.verify_ms,
        "benchmark": row.measure_ms,
        "runtimes": [],
    });
    let fields = [
        ("configuration", line(&Ordered(config))),
        ("times", line(&times)),
        ("invalidity", line(&row.invalidity.name())),
        ("correctness", line(&correctness)),
        ("measurements", line(&measurements(row))),
        ("objectives", line(&["time"])),
    ];
    let fields: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("\"{name}\": {value}"))
        .collect();
    format!("{{{}}}", fields.join(", "))
}

fn measurements(row: &ResultRow) -> Vec<Value> {
    let measurement =
        |name: &str, value: Value, unit: &str| json!({"name": name, "value": value, "unit": unit});
    let mut all = Vec::new();
    if let Some(time) = row.time_ms {
        all.push(measurement("time", json!(time), "ms"));
    }
    if let Some((samples, shortest)) = row.shortest {
        all.push(measurement("time_shortest", json!(shortest), "ms"));
        all.push(measurement("samples", json!(samples), ""));
    }
    let texts = [
        ("reason", &row.reason),
        ("verified_against", &row.verified_against),
    ];
    for (name, text) in texts {
        all.extend(text.as_ref().map(|text| measurement(name, json!(text), "")));
    }
    all
}
