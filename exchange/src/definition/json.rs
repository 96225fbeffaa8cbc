//! Reads definitions: `{"params": [{"name": …, "values": […]}], "constraints": ["…"]}`.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::error::{DefinitionError, FieldProblem};
use super::literal::Literal;
use super::model::{DefinedConstraint, Definition, Param};
use crate::lines::{line_of, without_position};
use crate::python::{self, ConstraintError, evaluate::MAX_ITEMS};

/// The fields of a definition file. They borrow the file's text, so errors can report lines.
#[derive(Deserialize)]
struct DefinitionFile<'a> {
    #[serde(default)]
    name: String,
    #[serde(borrow)]
    params: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    constraints: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawParam<'a> {
    name: String,
    #[serde(borrow)]
    values: Vec<&'a RawValue>,
}

/// Whether a file is a T1 file, which has the field `ConfigurationSpace`.
pub(crate) fn is_t1(text: &str) -> Result<bool, DefinitionError> {
    #[derive(Deserialize)]
    struct Top<'a> {
        #[serde(borrow, rename = "ConfigurationSpace")]
        space: Option<&'a RawValue>,
    }
    let whole = JsonSource { text };
    Ok(whole.parse::<Top<'_>>(text, "the file")?.space.is_some())
}

/// Reads a definition.
pub(crate) fn read(text: &str) -> Result<Definition, DefinitionError> {
    let source = JsonSource { text };
    let file: DefinitionFile<'_> = source.parse(text, "the file")?;
    let mut params = Vec::with_capacity(file.params.len());
    for (i, raw) in file.params.iter().enumerate() {
        let field = format!("`params[{i}]`");
        let param: RawParam<'_> = source.parse(raw.get(), &field)?;
        let field = format!("`values` of {}", param.name);
        let mut values = Vec::with_capacity(param.values.len());
        for raw in param.values {
            let value = literal(raw.get());
            values.push(value.map_err(|problem| source.error(raw.get(), &field, problem))?);
        }
        let param = Param {
            name: param.name,
            values,
        };
        check(&param, &params).map_err(|problem| source.error(raw.get(), &field, problem))?;
        params.push(param);
    }
    let mut constraints = Vec::with_capacity(file.constraints.len());
    for (i, raw) in file.constraints.iter().enumerate() {
        let field = format!("`constraints[{i}]`");
        let text: String = source.owned(raw.get(), &field)?;
        let constraint = constraint(text, &params);
        constraints.push(constraint.map_err(|problem| source.error(raw.get(), &field, problem))?);
    }
    Ok(Definition {
        name: file.name,
        params,
        constraints,
    })
}

/// Reads a constraint and checks that it uses only the parameters `params`.
pub(crate) fn constraint(
    text: String,
    params: &[Param],
) -> Result<DefinedConstraint, ConstraintError> {
    let expr = python::parse(&text)?;
    let known = |name: &str| params.iter().any(|param| param.name == name);
    match expr.unknown_name(&known) {
        Some(name) => Err(ConstraintError::UnknownParam { name: name.into() }),
        None => Ok(DefinedConstraint { text, expr }),
    }
}

/// Checks a parameter. `before` contains the parameters that come before it in the file.
///
/// # Errors
/// The parameter has no name or no values, has too many values, has the name of an earlier parameter, or has a value
/// twice.
pub(crate) fn check(param: &Param, before: &[Param]) -> Result<(), FieldProblem> {
    if param.name.is_empty() {
        return Err(FieldProblem::EmptyName);
    }
    if before.iter().any(|other| other.name == param.name) {
        let name = param.name.clone();
        return Err(FieldProblem::DuplicateParam { name });
    }
    if param.values.is_empty() {
        return Err(FieldProblem::NoValues);
    }
    if param.values.len() > MAX_ITEMS {
        return Err(FieldProblem::TooManyValues { limit: MAX_ITEMS });
    }
    let mut seen = BTreeSet::new();
    let twice = param
        .values
        .iter()
        .find(|value| !seen.insert(identity(value)));
    match twice.cloned() {
        Some(value) => Err(FieldProblem::DuplicateValue { value }),
        None => Ok(()),
    }
}

/// A key by which values are compared. Equal values have equal keys.
fn identity(value: &Literal) -> (u8, u128, &str) {
    match value {
        Literal::Int(x) => (0, *x as u128, ""),
        Literal::Float(x) => (1, x.to_bits().into(), ""),
        Literal::Bool(x) => (2, (*x).into(), ""),
        Literal::Text(x) => (3, 0, x),
    }
}

/// Reads a number, a truth value or a string from JSON.
fn literal(raw: &str) -> Result<Literal, FieldProblem> {
    let wrong = || FieldProblem::Value { found: raw.into() };
    match raw.as_bytes().first() {
        Some(b't') => Ok(Literal::Bool(true)),
        Some(b'f') => Ok(Literal::Bool(false)),
        Some(b'"') => serde_json::from_str(raw)
            .map(Literal::Text)
            .map_err(|_| wrong()),
        Some(b'-' | b'0'..=b'9') => match raw.contains(['.', 'e', 'E']) {
            false => raw.parse().map(Literal::Int).map_err(|_| wrong()),
            true => {
                let parsed = raw.parse::<f64>().ok().filter(|x| x.is_finite());
                parsed.map(Literal::Float).ok_or_else(wrong)
            }
        },
        _ => Err(wrong()),
    }
}

/// The text of a file. The methods take slices of this text, so errors can report lines.
#[derive(Clone, Copy)]
pub(crate) struct JsonSource<'a> {
    pub(crate) text: &'a str,
}

impl<'a> JsonSource<'a> {
    /// Parses a slice of the text as JSON. `field` is the path of the field that errors name.
    pub(crate) fn parse<'b, T: Deserialize<'b>>(
        &self,
        part: &'b str,
        field: &str,
    ) -> Result<T, DefinitionError> {
        serde_json::from_str(part).map_err(|error| self.json(part, field, &error))
    }

    /// Like [`Self::parse`], for types that do not borrow from the text.
    pub(crate) fn owned<T: DeserializeOwned>(
        &self,
        part: &str,
        field: &str,
    ) -> Result<T, DefinitionError> {
        self.parse(part, field)
    }

    fn json(&self, part: &str, field: &str, error: &serde_json::Error) -> DefinitionError {
        DefinitionError::Field {
            line: self.line(part) + error.line().saturating_sub(1),
            field: field.into(),
            problem: FieldProblem::Json {
                message: without_position(error),
            },
        }
    }

    /// Creates an error that reports the line on which a slice of the text begins.
    pub(crate) fn error(
        &self,
        part: &str,
        field: &str,
        problem: impl Into<FieldProblem>,
    ) -> DefinitionError {
        DefinitionError::Field {
            line: self.line(part),
            field: field.into(),
            problem: problem.into(),
        }
    }

    /// The number of the line on which a slice of the text begins.
    fn line(&self, part: &str) -> usize {
        line_of(self.text, part)
    }
}
