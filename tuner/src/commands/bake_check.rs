//! `tune bake --check`: checks that the baked tables are up to date. It fails if a build with the same `KILN_STRICT`
//! would fail, or if a check that a flag requests finds a fault.

use std::process::ExitCode;

use kiln::Kernel;

use super::output::{checked, print, print_json};
use crate::cli::BakeArgs;
use crate::error::Failure;
use crate::fleet::proofs;
use crate::tables::check;
use crate::task::Conditions;
use kiln_lab::machine;
use kiln_project::Project;

/// The remedy for a row without enough proofs.
const PROOFS_HELP: &str = "only a fleet writes proofs: restore the `.proof` file, or run `tune fleet plan`, its elements and \
                           `tune fleet merge`; `--proofs N` requires proofs of N devices";

pub(super) fn run(
    args: &BakeArgs,
    project: &Project,
    catalogue: &'static [&'static Kernel],
) -> Result<ExitCode, Failure> {
    let mut checked_tables = check::tables(project, args.images)?;
    if let Some(name) = &args.device.device {
        let (_, device) = machine::open_device(Some(name))?;
        let cache = machine::open_cache()?;
        let compiler = machine::compiler(&*device)?;
        let conditions = Conditions::new(device.info(), compiler, args.regime.regime);
        checked_tables.add_device(check::device(project, &conditions, &cache, catalogue)?);
    }
    if let Some(replicas) = args.proofs {
        let faults = proofs::check(project, replicas)?;
        let findings = faults
            .into_iter()
            .map(|fault| check::Finding::of_kernel(&fault.kernel, fault.path, fault.what))
            .map(|finding| finding.with_help(PROOFS_HELP));
        checked_tables.findings.extend(findings);
    }
    if args.output.json {
        print_json(&checked_tables.findings)?;
    } else {
        print(&checked_tables.to_text(project));
    }
    Ok(checked(!checked_tables.any_failed()))
}
