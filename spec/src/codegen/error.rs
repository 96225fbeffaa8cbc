//! Why a translation unit cannot be generated.

use thiserror::Error;

use crate::plan::PlanError;
use crate::source::{EntryError, Location};

/// Why a translation unit cannot be generated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CodegenError {
    /// The entry cannot be tuned.
    #[error(transparent)]
    Entry(#[from] EntryError),
    /// A config without a value for a tunable parameter.
    #[error(
        "config `{config}` gives `{param}` no value\nhelp: a config names every tunable parameter of its kernel"
    )]
    MissingParam {
        /// The parameter.
        param: String,
        /// The config's canonical text.
        config: String,
    },
    /// A config with a parameter or value that is not in the spec.
    #[error(
        "config `{config}`: `{param}={value}` is not in the spec\nhelp: run `tune space` to see the values of each parameter"
    )]
    UnknownValue {
        /// The parameter.
        param: String,
        /// The value.
        value: String,
        /// The config's canonical text.
        config: String,
    },
    /// A problem without a type for a type parameter.
    #[error("problem `{problem}` gives the type parameter `{name}` no type")]
    MissingType {
        /// The type parameter.
        name: String,
        /// The problem's canonical text.
        problem: String,
    },
    /// The size of the data for a `__constant__` variable has no value.
    #[error("the length of what fills `{path}`: {cause}")]
    ConstantLength {
        /// The variable.
        path: String,
        /// Why.
        cause: Box<PlanError>,
    },
    /// Two defines of one name.
    #[error(
        "macro `{name}` would be defined twice: by {first} and by {second}\nhelp: rename one of them"
    )]
    MacroTwice {
        /// The macro.
        name: String,
        /// What defines it first.
        first: String,
        /// What defines it again.
        second: String,
    },
    /// The name of a parameter is a keyword or one of Kiln's own names.
    #[error(
        "`{name}` cannot be a tunable parameter: {reason}\nhelp: tunable parameters are macros; write them in capitals, as in `BLOCK_M`"
    )]
    MacroName {
        /// The name.
        name: String,
        /// Why it cannot be one.
        reason: &'static str,
    },
    /// A source that itself defines a tunable parameter.
    #[error(
        "{at}: the source defines `{param}`, which is a tunable parameter\nhelp: remove the definition, or make it a default: `#ifndef {param}` before it"
    )]
    ParamDefined {
        /// The parameter.
        param: String,
        /// Where it is defined.
        at: Location,
    },
    /// An `extern __shared__` array that the cpu device cannot provide.
    #[error(
        "{at}: this `extern __shared__` declaration is not supported on the cpu device\nhelp: write `extern __shared__ T name[];` inside the kernel"
    )]
    DynamicShared {
        /// Where it is.
        at: Location,
    },
}
