//! Errors of building a search space.

use thiserror::Error;

use crate::config::Config;
use crate::config::validity::Invalid;
use crate::csp::CspError;
use crate::problem::Problem;

/// The reason why a search space cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SpaceError {
    /// An expression uses a name that is not a parameter, a problem size or a choice.
    #[error("`{0}` mentions a name that has no value for this problem")]
    Unknown(String),
    /// There are more than 2^128 combinations of parameter values.
    #[error("the product of {axes} parameters is beyond 2^128\nhelp: give parameters fewer values")]
    Product {
        /// The number of tunable parameters.
        axes: usize,
    },
    /// The space has more valid configs than the limit.
    #[error(
        "more than {limit} valid configs for {problem}\nhelp: add constraints, or give parameters fewer values"
    )]
    TooMany {
        /// The problem of the space.
        problem: Problem,
        /// The maximum number of configs.
        limit: usize,
    },
    /// Finding the valid configs takes too many steps.
    #[error("{error}\nnote: for {problem}")]
    Csp {
        /// The problem of the space.
        problem: Problem,
        /// Which limit was reached.
        error: CspError,
    },
    /// No config is valid.
    #[error("no config is valid for {problem} on this device: {}\nhelp: `tune space` lists what each constraint rejects", .rejected.join("; "))]
    Empty {
        /// The problem of the space.
        problem: Problem,
        /// Each rule with the number of combinations of values that it rejects, as text. The rule that rejects most
        /// comes first.
        rejected: Vec<String>,
    },
    /// The baseline cannot be launched for the problem on the device.
    #[error(
        "the baseline {baseline} is not valid for {problem}: {why}\nhelp: the baseline must run on every device and problem"
    )]
    Baseline {
        /// The baseline's config.
        baseline: Config,
        /// The problem of the space.
        problem: Problem,
        /// Why the baseline is not valid.
        why: Box<Invalid>,
    },
}

impl SpaceError {
    pub(super) fn of(error: CspError, problem: &Problem) -> SpaceError {
        let problem = problem.clone();
        SpaceError::Csp { problem, error }
    }

    /// The error for a space without valid configs. `rejected` states how many combinations each rule rejects.
    pub(super) fn empty(problem: &Problem, rejected: Vec<String>) -> SpaceError {
        let problem = problem.clone();
        SpaceError::Empty { problem, rejected }
    }
}
