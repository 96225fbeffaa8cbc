//! Errors of definitions.

use kiln_spec::csp::CspError;
use thiserror::Error;

use super::literal::Literal;
use crate::python::{ConstraintError, ListError, ParseError};

/// Why a definition cannot be used.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// A field cannot be used.
    #[error(
        "line {line}, {field}: {problem}\nhelp: docs/search-space.md describes the formats that are read"
    )]
    Field {
        /// Number of the line, from 1.
        line: usize,
        /// Path of the field from the top of the file.
        field: String,
        /// What is wrong with the field.
        problem: FieldProblem,
    },
    /// A constraint cannot be used.
    #[error(
        "constraint `{text}`: {problem}\nhelp: constraints are Python expressions over the parameters; docs/search-space.md lists what they may contain"
    )]
    Constraint {
        /// The text of the constraint, shortened if it is long.
        text: String,
        /// What is wrong with the constraint.
        problem: ConstraintError,
    },
    /// The search space cannot be built.
    #[error(transparent)]
    Csp(#[from] CspError),
}

/// What is wrong with a field of a definition.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FieldProblem {
    /// The field is not JSON, or its value has the wrong type.
    #[error("{message}")]
    Json {
        /// The message of the JSON reader, without its position.
        message: String,
    },
    /// A value is neither a number, a truth value nor a string.
    #[error("expected a number, a truth value or a string, found {found:.40}")]
    Value {
        /// The text of the value in the file.
        found: String,
    },
    /// A parameter has no name.
    #[error("the name is empty")]
    EmptyName,
    /// Two parameters have the same name.
    #[error("there is another parameter `{name}`")]
    DuplicateParam {
        /// The name that both parameters have.
        name: String,
    },
    /// A parameter has no values.
    #[error("there are no values")]
    NoValues,
    /// A parameter has more values than are allowed.
    #[error("more than {limit} values")]
    TooManyValues {
        /// The largest number of values.
        limit: usize,
    },
    /// A parameter has a value twice.
    #[error("the value {value} is listed twice")]
    DuplicateValue {
        /// The value that occurs twice.
        value: Literal,
    },
    /// The text that lists the values is not a Python expression.
    #[error(transparent)]
    Syntax(#[from] ParseError),
    /// The values cannot be computed.
    #[error(transparent)]
    List(#[from] ListError),
    /// The expression is not a constraint on the parameters.
    #[error(transparent)]
    Constraint(#[from] ConstraintError),
}

impl DefinitionError {
    pub(crate) fn constraint(text: &str, problem: ConstraintError) -> DefinitionError {
        const SHOWN: usize = 120;
        let mut shown: String = text.chars().take(SHOWN).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        DefinitionError::Constraint {
            text: shown,
            problem,
        }
    }
}
