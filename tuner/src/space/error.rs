//! The error of a space for which the exact number of valid configs is not known.

use std::path::PathBuf;

use kiln_spec::csp::Estimate;
use thiserror::Error;

/// The exact number of valid configs in a space is not known.
#[derive(Clone, Debug, Error)]
#[error(
    "{}: no exact count, because some constraints tie too many parameters together; estimated from a sample: \
     {estimate}\n\
     note: constraints left out while building: {}\n\
     help: `--json` gives the estimate as `valid_estimate`",
    .path.display(), .left_out.join("; ")
)]
pub struct NoExactCount {
    /// The path of the definition.
    pub path: PathBuf,
    /// The estimated number.
    pub estimate: Estimate,
    /// The constraints that were ignored while the space was built.
    pub left_out: Vec<String>,
}
