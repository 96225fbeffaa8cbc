//! `tune fleet work`: runs one element of a plan.

use std::process::ExitCode;
use std::time::Duration;

use kiln::Kernel;

use crate::cli::{WorkArgs, options};
use crate::commands::output::{checked, command_line, print};
use crate::error::{Failure, SHARED_GPU, TRY_AGAIN, UsageError};
use crate::fleet::{self, Work, Worked, signer};
use crate::progress;

pub(super) fn run(
    args: &WorkArgs,
    catalogue: &'static [&'static Kernel],
) -> Result<ExitCode, Failure> {
    let plan = signer::read(&args.plan.plan)?;
    let key = signer::read_worker_key(&plan, args.key.as_deref())?;
    let store = super::store(&args.plan.store)?;
    let project = super::project_of(&plan.plan().package, args.manifest_path.as_deref())?;
    let reporter = progress::reporter(false);
    let publish_every = period(&args.publish_every)?;
    let worked = fleet::work(Work {
        plan: &plan,
        element: args.element,
        key,
        store: &*store,
        project: &project,
        device: args.device.as_deref(),
        scratch: args.scratch.as_deref(),
        publish_every,
        allow_shared_gpu: args.allow_shared_gpu,
        jobs: options::jobs(None)?,
        command: &command_line(),
        catalogue,
        reporter: &*reporter,
    });
    let worked = match worked {
        Ok(worked) => worked,
        // This exit code makes the scheduler retry, possibly on a free device.
        Err(error) if error.code() == SHARED_GPU => {
            eprintln!("error: {error}");
            return Ok(ExitCode::from(TRY_AGAIN));
        }
        Err(error) => return Err(error),
    };
    let Some(Worked { report, undecided }) = worked else {
        print(&format!("element {}: done before\n", args.element));
        return Ok(checked(true));
    };
    for task in &report.tasks {
        print(&format!("{}\n", task.one_line()));
    }
    let end = if undecided.is_empty() {
        "done"
    } else {
        "not finished"
    };
    print(&format!(
        "element {}: {end} on {} in {:.1} s\n",
        args.element,
        report.device,
        report.elapsed_ms as f64 / 1e3
    ));
    if !undecided.is_empty() {
        print(&format!(
            "not decided: {}\nhelp: run the same command again, which goes on from these results; if the time is too short \
             each time, write a plan with a larger --budget\n",
            undecided.join(", ")
        ));
    }
    Ok(checked(undecided.is_empty() && !report.any_failed()))
}

fn period(text: &str) -> Result<Duration, UsageError> {
    let wrong = |reason: String| UsageError {
        flag: "--publish-every",
        value: text.to_owned(),
        reason,
        help: "write a time such as `30s` or `5m`",
    };
    let period = options::budget(text).map_err(|error| wrong(error.reason))?;
    period.ok_or_else(|| wrong("not a time".into()))
}
