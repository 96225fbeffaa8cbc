//! Why a run cannot begin.

use std::path::PathBuf;

use thiserror::Error;

/// A recording that a search is to start from has the parameters of no kernel of the run.
#[derive(Clone, Debug, Error)]
#[error(
    "{}: its parameters are {}; no kernel of this run has these\nhelp: `tune list` shows the kernels; a recording can be used for a kernel whose parameters have the same names",
    .path.display(), .params.join(", ")
)]
pub struct ForeignRecording {
    /// The recording.
    pub path: PathBuf,
    /// Its parameters.
    pub params: Vec<String>,
}
