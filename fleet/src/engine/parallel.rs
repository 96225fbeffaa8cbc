//! GNU parallel: elements on this machine, or over ssh with `--sshloginfile`.

use super::shell::{command, quote};
use super::{EngineError, Job};

/// Tries of an element.
const TRIES: u32 = 3;

pub(super) fn render(job: &Job<'_>) -> Result<String, EngineError> {
    let jobs = job.options.at_once.unwrap_or(1).max(1);
    // The command is one word of this shell, and `{}` a word of the one that parallel starts.
    let command = quote(&command(job.options, "{}"));
    let elements = super::ranges::ranges(job.elements);
    let log = format!("{}.log", job.name);
    Ok(format!(
        "#!/bin/sh\n# Elements {elements}. Add --sshloginfile FILE to run them on other machines.\n\
parallel --jobs {jobs} --retries {TRIES} --joblog {log} {command} ::: {}\n",
        job.elements
            .iter()
            .map(u32::to_string)
            .collect::<Vec<_>>()
            .join(" ")
    ))
}
