//! The tunable parameters of a recording.

use serde_json::Value;

/// A tunable parameter and its values. If all values are numbers, they are in increasing order.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedParam {
    /// Name of the parameter.
    pub name: String,
    /// The values as text, as recorded configs write them.
    pub texts: Vec<String>,
    /// The values as numbers; `None` if not all of them are numbers.
    pub numbers: Option<Vec<f64>>,
}

impl RecordedParam {
    /// Creates a parameter with these values. Equal values are included once.
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

    /// The position of a value in the list; `None` if the parameter does not have it.
    pub(crate) fn position(&self, text: &str) -> Option<u32> {
        let at = self.texts.iter().position(|value| value == text)?;
        u32::try_from(at).ok()
    }
}

/// The text of a value, as the keys of a cache file of Kernel Tuner write it.
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

/// The text of a floating-point number, as Python writes it: the exponent has a sign and at least two digits.
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
