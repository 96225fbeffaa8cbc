//! GNU parallel: runs elements on this machine, or over ssh with `--sshloginfile`.

use super::shell::{command, quote};
use super::{EngineError, Job};

/// Maximum number of attempts at an element.
const TRIES: u32 = 3;

pub(super) fn render(job: &Job<'_>) -> Result<String, EngineError> {
    let jobs = job.options.at_once.unwrap_or(1).max(1);
    // The command is one word for the user's shell, so it is quoted. The shell that GNU parallel starts parses it
    // again, and there `{}` is a word of its own.
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
