//! Errors of building a set of configs.

use thiserror::Error;

/// The reason why a set of configs cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CspError {
    /// Too many parameters have more than one value.
    #[error(
        "{found} parameters have more than one value, but the maximum is {most}\n\
         help: if a parameter always has the same value in valid configs, list only that value"
    )]
    Parameters {
        /// The number of parameters with more than one value.
        found: usize,
        /// The maximum number of such parameters.
        most: usize,
    },
    /// The construction exceeds its budget: it has too many states, or it tries too many values.
    #[error(
        "gave up: some constraints tie too many parameters together\nhelp: split constraints, or give the parameters that they name fewer values"
    )]
    TooLong,
    /// The construction exceeds its budget, so some constraints were left out, and hardly any config satisfies them.
    #[error(
        "gave up: some constraints tie too many parameters together, and only {accepted} of {tried} random configs \
         that meet all other constraints also meet them, which is too few to draw a sample\n\
         help: split constraints, or give the parameters that they name fewer values"
    )]
    Hopeless {
        /// Number of tried configs that satisfied the left-out constraints.
        accepted: u64,
        /// Number of random configs that were tried.
        tried: u64,
    },
    /// There are more than 2^128 valid configs.
    #[error("more than 2^128 configs are valid\nhelp: give parameters fewer values")]
    TooMany,
}
