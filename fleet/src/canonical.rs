//! Canonical JSON. Every value has exactly one text, so a hash or a signature of the text is a hash or a signature of
//! the value.
//!
//! Object keys are sorted by their bytes. There is no white space between tokens. One line feed ends the text.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The canonical text of a value.
pub(crate) fn to_text<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    let mut text = String::new();
    write(&serde_json::to_value(value)?, &mut text);
    text.push('\n');
    Ok(text)
}

/// Why a text is not the canonical text of a value.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotCanonical {
    /// The text is not JSON of the expected type.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// The text is valid, but differs from the canonical text of its value, for example because it has a field that the
    /// type does not have.
    #[error("byte {at} differs from the canonical text")]
    Differs {
        /// Offset of the first byte that differs.
        at: usize,
    },
}

/// Reads a value from its canonical text. Any other text is an error.
pub(crate) fn from_text<T: Serialize + DeserializeOwned>(text: &str) -> Result<T, NotCanonical> {
    let value: T = serde_json::from_str(text)?;
    let canonical = to_text(&value)?;
    if canonical == text {
        return Ok(value);
    }
    let same = text.bytes().zip(canonical.bytes());
    Err(NotCanonical::Differs {
        at: same.take_while(|(a, b)| a == b).count(),
    })
}

/// Appends the canonical text of a value. The recursion is only as deep as the types of this crate are nested.
fn write(value: &Value, to: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut names: Vec<_> = fields.iter().collect();
            names.sort_by_key(|(name, _)| *name);
            to.push('{');
            for (n, (name, value)) in names.into_iter().enumerate() {
                if n > 0 {
                    to.push(',');
                }
                to.push_str(&Value::from(name.as_str()).to_string());
                to.push(':');
                write(value, to);
            }
            to.push('}');
        }
        Value::Array(values) => {
            to.push('[');
            for (n, value) in values.iter().enumerate() {
                if n > 0 {
                    to.push(',');
                }
                write(value, to);
            }
            to.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            to.push_str(&value.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_value_has_one_text() {
        let text = "{\"a\":[1,null,\"\\n\"],\"b\":{\"\":true}}\n";
        let value: BTreeMap<String, Value> = from_text(text).unwrap();
        assert_eq!(to_text(&value).unwrap(), text);
        for other in [
            text.trim_end().to_owned(),
            format!(" {text}"),
            text.replace('1', "1 "),
            "{\"b\":{\"\":true},\"a\":[1,null,\"\\n\"]}\n".to_owned(),
            text.replace("\\n", "\\u000a"),
        ] {
            from_text::<BTreeMap<String, Value>>(&other).unwrap_err();
        }
    }
}
