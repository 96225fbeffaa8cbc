//! Errors that prevent a run from starting.

use std::path::PathBuf;

use thiserror::Error;

/// No kernel of the run has the parameters of a recording from which searches should start.
#[derive(Clone, Debug, Error)]
#[error(
    "{}: its parameters are {}, but no kernel of this run has these parameters\n\
     help: `tune list` shows the kernels; a recording can be used for a kernel whose parameters have the same names",
    .path.display(), .params.join(", ")
)]
pub struct ForeignRecording {
    /// The path of the recording.
    pub path: PathBuf,
    /// The names of the recorded parameters.
    pub params: Vec<String>,
}
