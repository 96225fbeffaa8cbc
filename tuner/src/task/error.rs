//! Errors of looking up tasks (a kernel and a problem) and their stored results.

use kiln_spec::space::SpaceError;
use thiserror::Error;

/// Why a task does not exist, or has no stored results.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TaskError {
    /// No kernel declares the problem.
    #[error(
        "no kernel declares the problem `{wanted}` (declared: {})\nhelp: run `tune list`",
        each_once(.declared)
    )]
    NotDeclared {
        /// The text of the requested problem.
        wanted: String,
        /// The declared problems.
        declared: Vec<String>,
    },
    /// The search space of a task cannot be built.
    #[error("{task}: {error}")]
    Space {
        /// The name of the kernel, and the problem.
        task: String,
        /// Why the space cannot be built.
        error: SpaceError,
    },
    /// No trials of the current version of the kernel are stored.
    #[error(
        "no trials of the current version of `{kernel}` are stored{}\n\
         help: `tune why {kernel}` says what is stored; `tune run` measures the kernel",
        selected(.problem.as_deref(), .key.as_deref(), .device.as_deref())
    )]
    NoTrials {
        /// The name of the kernel.
        kernel: String,
        /// The requested problem, as text; `None` if no problem was requested.
        problem: Option<String>,
        /// The requested start of a key's hash; `None` if no key was requested.
        key: Option<String>,
        /// The requested device; `None` if no device was requested.
        device: Option<String>,
    },
    /// Trials of the kernel are stored under several keys, and the request does not select one.
    #[error(
        "trials of `{kernel}` are stored under {} keys:\n{}\nhelp: choose one with `--key` and the start of its hash, or with `--device`",
        .keys.len(), .keys.join("\n")
    )]
    SeveralKeys {
        /// The name of the kernel.
        kernel: String,
        /// One line per key.
        keys: Vec<String>,
    },
}

/// The texts without duplicates, in their original order.
fn each_once(texts: &[String]) -> String {
    let mut known = std::collections::BTreeSet::new();
    let new: Vec<&str> = texts
        .iter()
        .map(String::as_str)
        .filter(|text| known.insert(*text))
        .collect();
    new.join("; ")
}

/// The properties that were requested of stored trials.
fn selected(problem: Option<&str>, key: Option<&str>, device: Option<&str>) -> String {
    let problem = problem.map(|problem| format!(" for {problem}"));
    let device = device.map(|device| format!(" on the device `{device}`"));
    let key = key.map(|key| format!(" under a key that begins with `{key}`"));
    [problem, device, key].into_iter().flatten().collect()
}
