//! What is wrong with a definition.

use kiln_spec::csp::CspError;
use thiserror::Error;

/// What is wrong with a definition.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// A field is not as it must be.
    #[error(
        "line {line}, {field}: {problem}\nhelp: docs/search-space.md describes the formats that are read"
    )]
    Field {
        /// The line, counted from 1.
        line: usize,
        /// The field, as a path from the top.
        field: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A constraint cannot be used.
    #[error(
        "constraint `{text}`: {problem}\nhelp: constraints are Python expressions over the parameters; docs/search-space.md lists what they may contain"
    )]
    Constraint {
        /// As written.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The space cannot be built.
    #[error(transparent)]
    Csp(#[from] CspError),
}

impl DefinitionError {
    pub(crate) fn constraint(text: &str, problem: String) -> DefinitionError {
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
