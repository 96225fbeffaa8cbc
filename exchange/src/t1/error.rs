//! Why a space or a kernel cannot be written as T1.

use kiln_spec::Config;
use kiln_spec::expr::EvalError;
use kiln_spec::plan::PlanError;
use kiln_spec::space::SpaceError;
use thiserror::Error;

use crate::definition::{DefinitionError, Literal};
use crate::python::{ParseError, TranslateError};

/// Why a space or a kernel cannot be written as T1.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum T1Error {
    /// A value cannot be written as a Python literal without escapes.
    #[error("the value {value} of `{param}` is not a Python literal that is read here")]
    Value {
        /// Name of the parameter.
        param: String,
        /// The value that cannot be written.
        value: Literal,
    },
    /// Python cannot express a constraint or a limit with the same value.
    #[error("`{expr}`: {error}")]
    Constraint {
        /// The constraint in the spec's language.
        expr: String,
        /// Why Python cannot express it.
        error: TranslateError,
    },
    /// A written constraint cannot be read again.
    #[error("`{text}`: {error}")]
    NotReadable {
        /// The constraint, in Python.
        text: String,
        /// Why it cannot be read.
        error: ParseError,
    },
    /// Python cannot express a grid or block extent with the same value.
    #[error(transparent)]
    Extent(#[from] TranslateError),
    /// The search space of the kernel cannot be built.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// The search space in the written file cannot be built.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// The written space and the kernel's space have different numbers of configs.
    #[error(
        "the space has {written} configs if it is written in Python, but {declared} in the kernel's spec"
    )]
    ConfigCount {
        /// Number of configs of the written space.
        written: u128,
        /// Number of configs of the kernel's space.
        declared: usize,
    },
    /// The written space lacks a config of the kernel's space.
    #[error("written in Python, the space lacks {config}")]
    MissingConfig {
        /// The missing config.
        config: Config,
    },
    /// An argument fills a `__constant__` variable, which T1 cannot express.
    #[error("`{name}` fills the `__constant__` variable `{variable}`, which T1 cannot express")]
    ConstantVariable {
        /// Name of the argument.
        name: String,
        /// Name of the variable.
        variable: String,
    },
    /// An argument is a struct or an array that is passed by value, which T1 cannot express.
    #[error("`{name}` is a struct or an array by value, which T1 does not have")]
    PlainArgument {
        /// Name of the argument.
        name: String,
    },
    /// A scalar argument has no value.
    #[error("the scalar `{name}` has no value")]
    NoScalarValue {
        /// Name of the argument.
        name: String,
    },
    /// The value of a computed argument depends on tunable parameters, which T1 cannot express.
    #[error("the argument `{name}` depends on tunable parameters, which T1 cannot express")]
    DependsOnParams {
        /// Name of the argument.
        name: String,
    },
    /// A computed argument has no value.
    #[error(transparent)]
    Computed(#[from] PlanError),
    /// The length of a slice has no value.
    #[error(transparent)]
    Length(#[from] EvalError),
    /// A slice has more elements than T1 can express.
    #[error("`{name}` is too long")]
    TooLong {
        /// Name of the argument.
        name: String,
    },
    /// The element type of a slice is unknown.
    #[error("`{name}` has no type")]
    NoType {
        /// Name of the argument.
        name: String,
    },
}
