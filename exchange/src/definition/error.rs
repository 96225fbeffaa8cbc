//! Errors of definitions.

use kiln_spec::csp::CspError;
use thiserror::Error;

use super::model::Literal;
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
        /// The line, counted from 1.
        line: usize,
        /// The field, as a path from the top.
        field: String,
        /// The problem.
        problem: FieldProblem,
    },
    /// A constraint cannot be used.
    #[error(
        "constraint `{text}`: {problem}\nhelp: constraints are Python expressions over the parameters; docs/search-space.md lists what they may contain"
    )]
    Constraint {
        /// As written.
        text: String,
        /// The problem.
        problem: ConstraintError,
    },
    /// The space cannot be built.
    #[error(transparent)]
    Csp(#[from] CspError),
}

/// The problem of a field of a definition.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FieldProblem {
    /// It is not JSON, or not of the type that it must be.
    #[error("{message}")]
    Json {
        /// The message of the JSON reader, without its position.
        message: String,
    },
    /// A value that a parameter cannot have.
    #[error("expected a number, a truth value or a string, found {found:.40}")]
    Value {
        /// As written.
        found: String,
    },
    /// A parameter without a name.
    #[error("the name is empty")]
    EmptyName,
    /// Two parameters of one name.
    #[error("there is another parameter `{name}`")]
    DuplicateParam {
        /// The name.
        name: String,
    },
    /// A parameter without values.
    #[error("there are no values")]
    NoValues,
    /// More values than a parameter may have.
    #[error("more than {limit} values")]
    TooManyValues {
        /// The limit.
        limit: usize,
    },
    /// A value that a parameter has twice.
    #[error("the value {value} is there twice")]
    DuplicateValue {
        /// The value.
        value: Literal,
    },
    /// The values are not an expression.
    #[error(transparent)]
    Syntax(#[from] ParseError),
    /// The values cannot be computed.
    #[error(transparent)]
    List(#[from] ListError),
    /// It is not a constraint on the parameters.
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
