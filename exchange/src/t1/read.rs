//! Reads T1 files, which are the problem definitions of the FAIR auto-tuning papers. Their values and conditions are
//! Python expressions.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::definition::error::{DefinitionError, FieldProblem};
use crate::definition::json::{JsonSource, check, constraint};
use crate::definition::model::{Definition, Param};
use crate::python::{self, evaluate};

#[derive(Deserialize)]
struct T1File<'a> {
    #[serde(rename = "General", default)]
    general: General,
    #[serde(borrow, rename = "ConfigurationSpace")]
    space: &'a RawValue,
}

#[derive(Default, Deserialize)]
struct General {
    #[serde(rename = "BenchmarkName", default)]
    name: String,
}

#[derive(Deserialize)]
struct Space<'a> {
    #[serde(borrow, rename = "TuningParameters")]
    params: Vec<&'a RawValue>,
    #[serde(borrow, rename = "Conditions", default)]
    conditions: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct T1Param<'a> {
    #[serde(rename = "Name")]
    name: String,
    #[serde(borrow, rename = "Values")]
    values: &'a RawValue,
}

/// A condition. Its field `Parameters` is ignored, because it may be incomplete.
#[derive(Deserialize)]
struct T1Condition {
    #[serde(rename = "Expression")]
    expression: String,
}

/// Reads a T1 file.
pub(crate) fn read(text: &str) -> Result<Definition, DefinitionError> {
    let source = JsonSource { text };
    let file: T1File<'_> = source.parse(text, "the file")?;
    let space: Space<'_> = source.parse(file.space.get(), "`ConfigurationSpace`")?;
    let mut params = Vec::with_capacity(space.params.len());
    for (i, raw) in space.params.iter().enumerate() {
        let field = format!("`TuningParameters[{i}]`");
        let param: T1Param<'_> = source.parse(raw.get(), &field)?;
        let field = format!("`Values` of {}", param.name);
        let list = param.values.get();
        let wrong = |problem: FieldProblem| source.error(list, &field, problem);
        // The values are a JSON list, or a string that contains a Python list.
        let written = match list.starts_with('"') {
            true => source.owned::<String>(list, &field)?,
            false => list.into(),
        };
        let expr = python::parse(&written).map_err(|error| wrong(error.into()))?;
        let param = Param {
            name: param.name,
            values: evaluate::list(&expr).map_err(|error| wrong(error.into()))?,
        };
        check(&param, &params).map_err(wrong)?;
        params.push(param);
    }
    let mut constraints = Vec::with_capacity(space.conditions.len());
    for (i, raw) in space.conditions.iter().enumerate() {
        let field = format!("`Conditions[{i}]`");
        let condition: T1Condition = source.parse(raw.get(), &field)?;
        let constraint = constraint(condition.expression, &params);
        constraints.push(constraint.map_err(|problem| source.error(raw.get(), &field, problem))?);
    }
    Ok(Definition {
        name: file.general.name,
        params,
        constraints,
    })
}
