//! Writes search spaces as T1 files. Their values and conditions are Python expressions.

use serde_json::{Value, json};

use super::error::T1Error;
use crate::definition::{Definition, Literal, Param};

impl Definition {
    /// The text of a T1 file that has only this space, without a kernel.
    ///
    /// # Errors
    /// A value cannot be written as a Python literal without escapes.
    pub fn to_t1(&self) -> Result<String, T1Error> {
        let general = json!({"BenchmarkName": self.name, "FormatVersion": 1});
        let space = configuration_space(self)?;
        Ok(pretty(
            &json!({"General": general, "ConfigurationSpace": space}),
        ))
    }
}

/// Writes a value as JSON over several lines.
pub(crate) fn pretty(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).expect("JSON values should serialise");
    text + "\n"
}

/// The field `ConfigurationSpace` of a T1 file.
pub(crate) fn configuration_space(definition: &Definition) -> Result<Value, T1Error> {
    let params = definition.params.iter().map(parameter);
    let params = params.collect::<Result<Vec<_>, _>>()?;
    let condition = |constraint: &crate::definition::DefinedConstraint| {
        let used = definition.params.iter().filter(|param| {
            let others = |name: &str| name != param.name;
            constraint.expr.unknown_name(&others).is_some()
        });
        let used: Vec<&str> = used.map(|param| param.name.as_str()).collect();
        json!({"Expression": constraint.text, "Parameters": used})
    };
    let conditions: Vec<Value> = definition.constraints.iter().map(condition).collect();
    Ok(json!({"TuningParameters": params, "Conditions": conditions}))
}

fn parameter(param: &Param) -> Result<Value, T1Error> {
    let values = param.values.iter().map(|value| {
        python(value).ok_or_else(|| T1Error::Value {
            param: param.name.clone(),
            value: value.clone(),
        })
    });
    let values = values.collect::<Result<Vec<_>, _>>()?;
    Ok(json!({
        "Name": param.name,
        "Type": kind(&param.values),
        "Values": format!("[{}]", values.join(", ")),
    }))
}

/// T1's name for the type of a parameter's values. Truth values are written as integers, because Kernel Tuner only
/// reads them in this form; in Python, they are equal to integers.
fn kind(values: &[Literal]) -> &'static str {
    if values.iter().any(|value| matches!(value, Literal::Text(_))) {
        "string"
    } else if values
        .iter()
        .any(|value| matches!(value, Literal::Float(_)))
    {
        "float"
    } else {
        "int"
    }
}

/// The text of a value as a Python literal; `None` if the literal would need escapes.
pub(crate) fn python(value: &Literal) -> Option<String> {
    match value {
        // Python would read the number without its sign first, and that number would need more than 128 bits.
        Literal::Int(i128::MIN) => Some(format!("-{} - 1", i128::MAX)),
        Literal::Text(text) if text.contains('\\') || text.contains(char::is_control) => None,
        Literal::Text(text) if !text.contains('\'') => Some(format!("'{text}'")),
        Literal::Text(text) if !text.contains('"') => Some(format!("\"{text}\"")),
        Literal::Text(_) => None,
        other => Some(other.to_string()),
    }
}
