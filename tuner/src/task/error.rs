//! Errors of looking up tasks and their stored results.

use kiln_spec::space::SpaceError;
use thiserror::Error;

/// Why a task does not exist, or has no stored results.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TaskError {
    /// No kernel declares the problem.
    #[error(
        "no kernel declares the problem `{wanted}` (declared: {})\nhelp: run `tune list`",
        .declared.join("  ")
    )]
    NotDeclared {
        /// The requested problem.
        wanted: String,
        /// The declared problems.
        declared: Vec<String>,
    },
    /// The search space cannot be built.
    #[error("{task}: {error}")]
    Space {
        /// The kernel; with the problem if there are several.
        task: String,
        /// Why not.
        error: SpaceError,
    },
    /// No trials of the current kernel are stored.
    #[error(
        "no trials of `{kernel}` ({problem}) as it is now are stored{of_device}\nhelp: `tune why {kernel}` says what is; `tune run` measures",
        of_device = of_device(.device)
    )]
    NoTrials {
        /// The kernel.
        kernel: String,
        /// The problem.
        problem: String,
        /// The requested device, if any.
        device: Option<String>,
    },
    /// Trials are stored under several keys.
    #[error(
        "trials of `{kernel}` ({problem}) are stored under {} keys:\n{}\nhelp: choose one with `--key` and the start of its hash, or with `--device`",
        .keys.len(), .keys.join("\n")
    )]
    SeveralKeys {
        /// The kernel.
        kernel: String,
        /// The problem.
        problem: String,
        /// A line for each key.
        keys: Vec<String>,
    },
}

fn of_device(device: &Option<String>) -> String {
    let device = device.as_ref();
    device.map_or_else(String::new, |device| format!(" of `{device}`"))
}
