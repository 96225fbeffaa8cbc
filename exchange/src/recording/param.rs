//! The tunable parameters of a recording.

use serde_json::Value;

/// A tunable parameter and its values, in increasing order if all are numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedParam {
    /// Its name.
    pub name: String,
    /// Its values as recorded configs spell them.
    pub texts: Vec<String>,
    /// Its values as numbers, if all are.
    pub numbers: Option<Vec<f64>>,
}

impl RecordedParam {
    /// A parameter with these values; equal ones count once.
    pub(crate) fn new(name: &str, values: &[Value]) -> Self {
        let mut values: Vec<(String, Option<f64>)> = values
            .iter()
            .map(|value| (spelled(value), number(value)))
            .collect();
        let mut seen = std::collections::HashSet::new();
        values.retain(|(text, _)| seen.insert(text.clone()));
        let numbers: Option<Vec<f64>> = values.iter().map(|value| value.1).collect();
        if numbers.is_some() {
            values.sort_by(|a, b| a.1.unwrap_or_default().total_cmp(&b.1.unwrap_or_default()));
        }
        Self {
            name: name.to_owned(),
            numbers: values.iter().map(|value| value.1).collect(),
            texts: values.into_iter().map(|value| value.0).collect(),
        }
    }

    /// The position of a value.
    pub(crate) fn position(&self, text: &str) -> Option<u32> {
        let at = self.texts.iter().position(|value| value == text)?;
        u32::try_from(at).ok()
    }
}

/// A value as the keys of a cache file spell it.
pub(crate) fn spelled(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Null => "None".into(),
        Value::Number(number) if number.is_f64() => {
            python_float(number.as_f64().unwrap_or_default())
        }
        other => other.to_string(),
    }
}

/// A double as Python writes it: with two digits of the exponent at least, and its sign.
fn python_float(number: f64) -> String {
    let text = format!("{number:?}");
    let Some((digits, exponent)) = text.split_once('e') else {
        return text;
    };
    match exponent.strip_prefix('-') {
        Some(exponent) => format!("{digits}e-{exponent:0>2}"),
        None => format!("{digits}e+{exponent:0>2}"),
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(on) => Some(f64::from(u8::from(*on))),
        Value::String(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
        other => other.as_f64(),
    }
}
