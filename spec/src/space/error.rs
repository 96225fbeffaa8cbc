//! Why a search space cannot be built.

use thiserror::Error;

use crate::config::Config;
use crate::problem::Problem;
use crate::validity::Invalid;

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
    /// The enumeration visits too many partial configs.
    #[error(
        "gave up after {steps} partial configs for {problem}, {found} of them leading to valid ones\n\
         help: declare the parameters of the strictest constraint first, so that it cuts early"
    )]
    TooLong {
        /// The problem.
        problem: Problem,
        /// Partial configs visited.
        steps: u64,
        /// Valid configs found until then.
        found: usize,
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
