//! Parameters, values and constraints, and the model that is solved for their configs.

use kiln_spec::csp::{ConfigSet, LayerBudget, ListedSet, Model, SampleSize, Semantics, Value};

use super::error::DefinitionError;
use super::literal::Literal;
use crate::python;

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its values, in the order given.
    pub values: Vec<Literal>,
}

/// A constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct DefinedConstraint {
    /// As written.
    pub text: String,
    /// As read.
    pub expr: python::PythonExpr,
}

/// The configs of a definition.
#[derive(Clone, Debug)]
pub enum Solved {
    /// All of them.
    Exact(ConfigSet),
    /// A sample: all of them would take too long to find.
    Sampled(ListedSet),
}

/// A search space as a file defines it.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Its name; empty if the file has none.
    pub name: String,
    /// The parameters, in order.
    pub params: Vec<Param>,
    /// The constraints; a config must meet all of them.
    pub constraints: Vec<DefinedConstraint>,
}

impl Definition {
    /// The model to solve.
    ///
    /// # Errors
    /// If a constraint uses a name that is not a parameter, or there are too many parameters.
    pub fn model(&self) -> Result<Model, DefinitionError> {
        let mut texts = Vec::new();
        let params: Vec<&str> = self
            .params
            .iter()
            .map(|param| param.name.as_str())
            .collect();
        let mut names = python::lower::Names {
            params: &params,
            texts: &mut texts,
        };
        let mut values = Vec::with_capacity(self.params.len());
        for param in &self.params {
            let all = param.values.iter().map(|value| match value {
                Literal::Int(x) => Value::Int(*x),
                Literal::Float(x) => Value::Float(*x),
                Literal::Bool(x) => Value::Bool(*x),
                Literal::Text(x) => names.text(x),
            });
            values.push(all.collect());
        }
        let mut model = Model::new(Semantics::Python, &values)?;
        for constraint in &self.constraints {
            let term = python::lower::lower(&constraint.expr, model.graph(), &mut names)
                .map_err(|problem| DefinitionError::constraint(&constraint.text, problem))?;
            model.constrain(term);
        }
        Ok(model)
    }

    /// The configs that meet every constraint; a sample of them if finding all takes too long.
    ///
    /// # Errors
    /// As [`Self::model`], and if hardly any config is valid.
    pub fn solve_or_sample(&self) -> Result<Solved, DefinitionError> {
        let relaxed = self.model()?.relaxed(LayerBudget::default())?;
        if relaxed.is_exact() {
            return Ok(Solved::Exact(relaxed.into_set()));
        }
        let (seed, size) = (self.name.as_bytes(), SampleSize::default());
        Ok(Solved::Sampled(relaxed.list(seed, size, None)?))
    }

    /// The configs that meet every constraint.
    ///
    /// # Errors
    /// As [`Self::model`], and if that takes too long.
    pub fn solve(&self) -> Result<ConfigSet, DefinitionError> {
        Ok(self.model()?.solve(LayerBudget::default())?)
    }
}
