//! The tunable parameters of a recording.

use serde_json::Value;

/// A tunable parameter and its values, in increasing order where all are numbers.
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
    pub(super) fn new(name: &str, values: &[Value]) -> Self {
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
    pub(super) fn position(&self, text: &str) -> Option<u32> {
        let at = self.texts.iter().position(|value| value == text)?;
        u32::try_from(at).ok()
    }
}

/// A value as the keys of a cache file spell it.
pub(super) fn spelled(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Null => "None".into(),
        other => other.to_string(),
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(on) => Some(f64::from(u8::from(*on))),
        Value::String(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
        other => other.as_f64(),
    }
}
