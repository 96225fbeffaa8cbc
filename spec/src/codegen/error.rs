//! Errors of generating a translation unit.

use thiserror::Error;

use crate::plan::PlanError;
use crate::source::{EntryError, Location};

/// The reason why a translation unit cannot be generated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CodegenError {
    /// The entry is not a kernel that can be tuned.
    #[error(transparent)]
    Entry(#[from] EntryError),
    /// The config does not set a tunable parameter.
    #[error(
        "config `{config}` gives `{param}` no value\nhelp: a config names every tunable parameter of its kernel"
    )]
    MissingParam {
        /// The parameter that is not set.
        param: String,
        /// The canonical text of the config.
        config: String,
    },
    /// The config sets a parameter or a value that is not in the spec.
    #[error(
        "config `{config}`: `{param}={value}` is not in the spec\nhelp: run `tune space` to see the values of each parameter"
    )]
    UnknownValue {
        /// The name of the parameter.
        param: String,
        /// The value that the config sets.
        value: String,
        /// The canonical text of the config.
        config: String,
    },
    /// The problem does not set a type parameter.
    #[error("problem `{problem}` gives the type parameter `{name}` no type")]
    MissingType {
        /// The type parameter that is not set.
        name: String,
        /// The canonical text of the problem.
        problem: String,
    },
    /// The length of the data for a `__constant__` variable has no value.
    #[error("the length of the argument that fills `{path}`: {cause}")]
    ConstantLength {
        /// The path of the variable.
        path: String,
        /// Why the length has no value.
        cause: Box<PlanError>,
    },
    /// Two definitions would define the same macro.
    #[error(
        "macro `{name}` would be defined twice: by {first} and by {second}\nhelp: rename one of them"
    )]
    MacroTwice {
        /// The name of the macro.
        name: String,
        /// A description of the first definition.
        first: String,
        /// A description of the second definition.
        second: String,
    },
    /// A parameter has the name of a keyword or a name that Kiln reserves.
    #[error(
        "`{name}` cannot be a tunable parameter: {reason}\nhelp: tunable parameters are macros; write them in capitals, as in `BLOCK_M`"
    )]
    MacroName {
        /// The name of the parameter.
        name: String,
        /// Why the name is not allowed.
        reason: &'static str,
    },
    /// The source itself defines a tunable parameter.
    #[error(
        "{at}: the source defines `{param}`, which is a tunable parameter\nhelp: remove the definition, or make it a default: `#ifndef {param}` before it"
    )]
    ParamDefined {
        /// The name of the parameter.
        param: String,
        /// The file and line of the definition.
        at: Location,
    },
    /// The `cpu` device does not support this form of `extern __shared__` declaration.
    #[error(
        "{at}: this `extern __shared__` declaration is not supported on the cpu device\nhelp: write `extern __shared__ T name[];` inside the kernel"
    )]
    DynamicShared {
        /// The file and line of the declaration.
        at: Location,
    },
}
