//! Why a set of configs cannot be built.

use thiserror::Error;

/// Why a set of configs cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CspError {
    /// More parameters that vary than fit.
    #[error(
        "{found} parameters have more than one value, more than {most}\nhelp: give parameters that always have the same value only that one"
    )]
    Parameters {
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// Too many states, or too many steps from one to the next.
    #[error(
        "gave up: some constraints tie too many parameters together\nhelp: split constraints, or give the parameters that they name fewer values"
    )]
    TooLong,
    /// More than 2^128 valid configs.
    #[error("more than 2^128 configs are valid\nhelp: give parameters fewer values")]
    TooMany,
}
