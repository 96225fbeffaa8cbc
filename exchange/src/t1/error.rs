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
    /// A value that has no literal in Python without escapes.
    #[error("the value {value} of `{param}` is not a Python literal that is read here")]
    Value {
        /// The parameter.
        param: String,
        /// Its value.
        value: Literal,
    },
    /// A constraint or limit that Python cannot say with the same value.
    #[error("`{expr}`: {error}")]
    Constraint {
        /// The constraint as the spec has it.
        expr: String,
        /// The part that Python cannot say.
        error: TranslateError,
    },
    /// A constraint that cannot be read again.
    #[error("`{text}`: {error}")]
    NotReadable {
        /// The constraint in Python.
        text: String,
        /// What is wrong with it.
        error: ParseError,
    },
    /// A grid or block extent that Python cannot say with the same value.
    #[error(transparent)]
    Extent(#[from] TranslateError),
    /// The kernel's space cannot be built.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// The written space cannot be built.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// The written space does not have as many configs as the kernel's.
    #[error("written in Python, the space has {written} configs, in the kernel's spec {declared}")]
    ConfigCount {
        /// Configs of the written space.
        written: u128,
        /// Configs of the kernel's space.
        declared: usize,
    },
    /// The written space does not have a config that the kernel's has.
    #[error("written in Python, the space lacks {config}")]
    MissingConfig {
        /// The config.
        config: Config,
    },
    /// An argument that fills a `__constant__` variable.
    #[error("`{name}` fills the `__constant__` variable `{variable}`, which T1 cannot say")]
    ConstantVariable {
        /// The argument.
        name: String,
        /// The variable.
        variable: String,
    },
    /// An argument of a type of its own, by value.
    #[error("`{name}` is a struct or an array by value, which T1 does not have")]
    PlainArgument {
        /// The argument.
        name: String,
    },
    /// A scalar argument without a value.
    #[error("the scalar `{name}` has no value")]
    NoScalarValue {
        /// The argument.
        name: String,
    },
    /// A computed argument that not all configs agree on.
    #[error("the argument `{name}` depends on tunable parameters, which T1 cannot say")]
    DependsOnParams {
        /// The argument.
        name: String,
    },
    /// A computed argument without a value.
    #[error(transparent)]
    Computed(#[from] PlanError),
    /// A slice whose length has no value.
    #[error(transparent)]
    Length(#[from] EvalError),
    /// A slice of more elements than T1 can say.
    #[error("`{name}` is too long")]
    TooLong {
        /// The argument.
        name: String,
    },
    /// A slice whose element type is not known.
    #[error("`{name}` has no type")]
    NoType {
        /// The argument.
        name: String,
    },
}
