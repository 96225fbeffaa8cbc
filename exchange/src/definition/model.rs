//! The parameters, values and constraints of a search space, and the model whose solutions are its valid configs.

use kiln_spec::csp::{ConfigSet, LayerBudget, ListedSet, Model, SampleSize, Semantics, Value};

use super::error::DefinitionError;
use super::literal::Literal;
use crate::python;

/// A tunable parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Name of the parameter.
    pub name: String,
    /// Values of the parameter, in the order of the file.
    pub values: Vec<Literal>,
}

/// A constraint on the parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct DefinedConstraint {
    /// The text of the constraint as it is written.
    pub text: String,
    /// The constraint as an expression.
    pub expr: python::PythonExpr,
}

/// The valid configs of a definition.
#[derive(Clone, Debug)]
pub enum Solved {
    /// All valid configs.
    Exact(ConfigSet),
    /// A sample of the valid configs, because finding all of them would take too long.
    Sampled(ListedSet),
}

/// A search space as a file defines it.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Name of the space; empty if the file has none.
    pub name: String,
    /// The parameters, in order.
    pub params: Vec<Param>,
    /// The constraints. A valid config meets all of them.
    pub constraints: Vec<DefinedConstraint>,
}

impl Definition {
    /// Creates the model whose solutions are the valid configs.
    ///
    /// # Errors
    /// A constraint uses a name that is not a parameter, or there are too many parameters.
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

    /// The configs that meet all constraints, or a sample of them if finding all takes too long.
    ///
    /// # Errors
    /// The errors of [`Self::model`], or an error if finding all configs takes too long and so few configs are valid that
    /// no sample can be found.
    pub fn solve_or_sample(&self) -> Result<Solved, DefinitionError> {
        let relaxed = self.model()?.relaxed(LayerBudget::default())?;
        if relaxed.is_exact() {
            return Ok(Solved::Exact(relaxed.into_set()));
        }
        let (seed, size) = (self.name.as_bytes(), SampleSize::default());
        Ok(Solved::Sampled(relaxed.list(seed, size, None)?))
    }

    /// The configs that meet all constraints.
    ///
    /// # Errors
    /// The errors of [`Self::model`], or an error if finding all configs takes too long.
    pub fn solve(&self) -> Result<ConfigSet, DefinitionError> {
        Ok(self.model()?.solve(LayerBudget::default())?)
    }
}
