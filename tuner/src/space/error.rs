//! Errors of counting the configs of a space.

use std::path::PathBuf;

use kiln_spec::csp::Estimate;
use thiserror::Error;

/// The exact count of a space is not known.
#[derive(Clone, Debug, Error)]
#[error(
    "{}: no exact count: some constraints tie too many parameters together, of a sample there are {estimate}\n\
     note: constraints left out while building: {}\n\
     help: `--json` gives the estimate as `valid_estimate`",
    .path.display(), .left_out.join("; ")
)]
pub struct NoExactCount {
    /// The file of the definition.
    pub path: PathBuf,
    /// The estimated count.
    pub estimate: Estimate,
    /// Constraints that were left out.
    pub left_out: Vec<String>,
}
