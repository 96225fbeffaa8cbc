//! Why a search space cannot be built.

use thiserror::Error;

use crate::config::Config;
use crate::config::validity::Invalid;
use crate::csp::CspError;
use crate::problem::Problem;

/// Why a search space cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SpaceError {
    /// An expression uses a name that is neither a parameter, a problem size nor a choice.
    #[error("`{0}` mentions a name that has no value for this problem")]
    Unknown(String),
    /// The product of all values does not fit 128 bits.
    #[error("the product of {axes} parameters is beyond 2^128\nhelp: give parameters fewer values")]
    Product {
        /// Number of parameters.
        axes: usize,
    },
    /// More valid configs than the limit.
    #[error(
        "more than {limit} valid configs for {problem}\nhelp: add constraints, or give parameters fewer values"
    )]
    TooMany {
        /// The problem.
        problem: Problem,
        /// The limit.
        limit: usize,
    },
    /// The construction takes too many steps.
    #[error("{error}\nnote: for {problem}")]
    Csp {
        /// The problem.
        problem: Problem,
        /// The limit that was reached.
        error: CspError,
    },
    /// No config is valid.
    #[error("no config is valid for {problem} on this device: {}\nhelp: `tune space` lists what each constraint rejects", .rejected.join("; "))]
    Empty {
        /// The problem.
        problem: Problem,
        /// The rules and the number of configs that each rejected, largest first.
        rejected: Vec<String>,
    },
    /// The baseline cannot be launched.
    #[error(
        "the baseline {baseline} is not valid for {problem}: {why}\nhelp: the baseline must run on every device and problem"
    )]
    Baseline {
        /// Its config.
        baseline: Config,
        /// The problem.
        problem: Problem,
        /// Why it is not valid.
        why: Box<Invalid>,
    },
}

impl SpaceError {
    pub(super) fn of(error: CspError, problem: &Problem) -> SpaceError {
        let problem = problem.clone();
        SpaceError::Csp { problem, error }
    }

    /// The error of a space without configs; `rejected` lists how many each rule rejected.
    pub(super) fn empty(problem: &Problem, rejected: Vec<String>) -> SpaceError {
        let problem = problem.clone();
        SpaceError::Empty { problem, rejected }
    }
}
