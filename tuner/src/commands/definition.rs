//! `tune space --definition`: describes the search space that a file defines.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use kiln_exchange::definition::{Definition, Solved, valid};
use rustix::time::{ClockId, clock_gettime};

use super::output::{checked, print, print_json};
use crate::cli::SpaceArgs;
use crate::error::Failure;
use crate::space::definition::{DefinitionSample, DefinitionSpace};

pub(super) fn run(path: &Path, args: &SpaceArgs) -> Result<ExitCode, Failure> {
    let text = std::fs::read_to_string(path).map_err(Failure::file("read", path))?;
    let named = |error| Failure::Definition {
        path: path.to_owned(),
        error: Box::new(error),
    };
    let definition = Definition::read(&text).map_err(named)?;
    let started = cpu_time();
    let solved = definition.solve_or_sample().map_err(named)?;
    let cpu = cpu_time().saturating_sub(started);
    match solved {
        Solved::Sampled(list) => {
            let sample = DefinitionSample::new(&definition, &list, cpu);
            match (args.count, args.output.json) {
                (true, true) => print_json(&sample.to_count())?,
                (true, false) => print(&format!("{}\n", sample.exact(path)?)),
                (false, true) => print_json(&sample.to_json())?,
                (false, false) => print(&sample.to_text()),
            }
        }
        Solved::Exact(set) => {
            let described = DefinitionSpace::new(&definition, &set, cpu);
            match (args.count, args.output.json) {
                (true, true) => print_json(&described.to_count())?,
                (true, false) => print(&format!("{}\n", valid(&set))),
                (false, true) => print_json(&described)?,
                (false, false) => print(&described.to_text(&definition, &set)),
            }
        }
    }
    Ok(checked(true))
}

/// The CPU time that this process has used so far.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}
