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
    /// An expression mentions a name that is neither parameter, problem size nor choice.
    #[error("`{0}` mentions a name that has no value for this problem")]
    Unknown(String),
    /// The product of all values does not fit 128 bits.
    #[error("the product of {axes} parameters is beyond 2^128\nhelp: give parameters fewer values")]
    Product {
        /// Number of parameters.
        axes: usize,
    },
    /// More valid configs than the space may hold.
    #[error(
        "more than {limit} valid configs for {problem}\nhelp: add constraints, or give parameters fewer values"
    )]
    TooMany {
        /// The problem.
        problem: Problem,
        /// The most that a space holds.
        limit: usize,
    },
    /// The construction takes too many steps.
    #[error("{error}\nnote: for {problem}")]
    Csp {
        /// The problem.
        problem: Problem,
        /// What takes too much.
        error: CspError,
    },
    /// No config is valid.
    #[error("no config is valid for {problem} on this device: {}\nhelp: `tune space` lists what each constraint rejects", .rejected.join("; "))]
    Empty {
        /// The problem.
        problem: Problem,
        /// What rejected how many, most first.
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
        /// Why not.
        why: Box<Invalid>,
    },
}

impl SpaceError {
    pub(super) fn of(error: CspError, problem: &Problem) -> SpaceError {
        let problem = problem.clone();
        SpaceError::Csp { problem, error }
    }

    /// The error of a space without configs, with what rejected how many.
    pub(super) fn empty(problem: &Problem, rejected: Vec<String>) -> SpaceError {
        let problem = problem.clone();
        SpaceError::Empty { problem, rejected }
    }
}
