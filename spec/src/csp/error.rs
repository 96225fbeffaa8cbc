//! Why a set of configs cannot be built.

use thiserror::Error;

/// Why a set of configs cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CspError {
    /// Too many parameters with more than one value.
    #[error(
        "{found} parameters have more than one value, more than {most}\nhelp: give parameters that always have the same value only that one"
    )]
    Parameters {
        /// The number of parameters.
        found: usize,
        /// The maximum.
        most: usize,
    },
    /// Too many states, or too many steps from one to the next.
    #[error(
        "gave up: some constraints tie too many parameters together\nhelp: split constraints, or give the parameters that they name fewer values"
    )]
    TooLong,
    /// Too many states, and hardly any config satisfies the constraints that had to be left out.
    #[error(
        "gave up: some constraints tie too many parameters together, and of {tried} random configs that meet all others, {accepted} meet them: too few to draw a sample\nhelp: split constraints, or give the parameters that they name fewer values"
    )]
    Hopeless {
        /// Number of configs that satisfied the constraints.
        accepted: u64,
        /// Number of configs that were tried.
        tried: u64,
    },
    /// More than 2^128 valid configs.
    #[error("more than 2^128 configs are valid\nhelp: give parameters fewer values")]
    TooMany,
}
