//! `tune inspect --profile`: profiles configs on simulated GPUs, which count the executed instructions and the moved
//! bytes.

use std::process::ExitCode;

use super::output::{checked, print, print_json, say_unsupported};
use crate::cli::InspectArgs;
use crate::cli::options::jobs;
use crate::compile_only::inspect::{ConfigSelector, HOST, subjects};
use crate::compile_only::profile_table::to_text;
use crate::compile_only::{CompileTarget, Profiled};
use crate::error::{Failure, UsageError};
use kiln_lab::threads;
use kiln_project::Project;

/// Profiles on each target whose compiler is installed. If `named` is set, the user specified the targets, and a
/// missing compiler makes the command fail.
pub(super) fn run(
    args: &InspectArgs,
    project: &Project,
    wanted: &ConfigSelector<'_>,
    arches: &[String],
    named: bool,
) -> Result<ExitCode, Failure> {
    if arches.iter().any(|arch| arch == HOST) {
        return Err(UsageError {
            flag: "--target",
            value: HOST.into(),
            reason: "the cpu device is not simulated, so nothing is counted on it".into(),
            help: "name a GPU, such as sm_89 or gfx1151; `perf` profiles the cpu device",
        }
        .into());
    }
    let pool = threads::to_compile(jobs(args.jobs)?)?;
    let (mut titles, mut rows, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    for arch in arches {
        let known = CompileTarget::known(arch)?;
        match Profiled::open(known, args.blocks) {
            Ok(profiled) => {
                say_unsupported(project, known.arch, known.backend);
                let subjects = subjects(wanted, project, (known.backend, &known.limits))?;
                rows.extend(pool.install(|| profiled.profile(&subjects))?);
                titles.push((known.arch, profiled.title()));
            }
            Err(error) => missing.push((arch, error)),
        }
    }
    if args.output.json {
        print_json(&rows)?;
    } else {
        let title = |arch: &str| {
            let found = titles.iter().find(|(known, _)| *known == arch);
            found.map_or_else(String::new, |(_, title)| title.clone())
        };
        print(&to_text(&rows, title));
    }
    for (arch, error) in &missing {
        eprintln!("not profiled for {arch}: {error}");
    }
    let all_there = missing.is_empty() || !named && !titles.is_empty();
    Ok(checked(
        all_there && rows.iter().all(|row| row.error.is_none()),
    ))
}
