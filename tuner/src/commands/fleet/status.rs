//! `tune fleet status`: reports the progress of a plan from the content of the store.

use std::path::PathBuf;
use std::process::ExitCode;

use kiln_exchange::fleet::{PlanStatus, TaskState};
use kiln_fleet::Seen;

use super::tables;
use crate::cli::StatusArgs;
use crate::commands::output::{checked, print, print_json};
use crate::error::Failure;
use crate::fleet::signer;
use crate::fleet::state::PlanState;

pub(super) fn run(args: &StatusArgs) -> Result<ExitCode, Failure> {
    let plan = signer::read_current(&args.plan.plan)?;
    let store = super::store(&args.plan.store)?;
    let signers = signers(args, &plan.plan().package)?;
    let check = |signers: &PathBuf| signer::check(&plan.signed, &plan.path, signers);
    let who = signers.as_ref().map(check).transpose()?;
    let state = PlanState::read(&*store, &plan, signers.as_deref(), &mut Seen::default())?;
    let status = tables::status(plan.plan(), &state, who);
    if args.output.json {
        print_json(&status)?;
    } else {
        print(&text(&status, &state));
        let complaints = status.complaints.iter();
        complaints.for_each(|line| eprintln!("tune: {line}"));
    }
    Ok(checked(true))
}

/// The file of allowed signers: the file on the command line, or the package's file if it exists. `None` if there is
/// neither, because the status can also be read on a machine without the package.
fn signers(args: &StatusArgs, package: &str) -> Result<Option<PathBuf>, Failure> {
    if let Some(given) = &args.allowed_signers {
        return Ok(Some(given.clone()));
    }
    let manifest_path = args.manifest_path.as_deref();
    let project = match super::project_of(package, manifest_path) {
        Err(error) if manifest_path.is_some() => return Err(error),
        project => project.ok(),
    };
    let path = project.map(|project| super::allowed_signers(None, &project));
    Ok(path.filter(|path| path.is_file()))
}

fn text(status: &PlanStatus, state: &PlanState) -> String {
    let (all, done) = (status.elements, status.finished.len());
    // The bar has 20 characters.
    let filled = (20 * done).checked_div(all).unwrap_or(20);
    let bar = "#".repeat(filled) + &".".repeat(20 - filled);
    let signed = match &status.signed_by {
        Some(who) => format!("signed by {who}"),
        None => "its signer is not checked: pass --allowed-signers FILE".to_owned(),
    };
    let mut text = format!(
        "plan {}, {signed}\n[{bar}] {done} of {all} elements, {} journals, {} records\n",
        &status.plan[..12],
        status.journals,
        status.records
    );
    let counts = [
        (&[TaskState::Proven][..], "proven"),
        (&[TaskState::Kept, TaskState::Stopped], "keep the baseline"),
        (&[TaskState::NeedsReplica], "need another device"),
        (&[TaskState::Searched], "need a final"),
        (&[TaskState::Missing], "missing"),
    ];
    let count = |states: &[TaskState]| states.iter().map(|state| status.count(*state)).sum();
    let counts: Vec<String> = counts
        .map(|(states, what)| (count(states), what))
        .into_iter()
        .filter(|(count, _): &(usize, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    text += &format!("{}\n\n", counts.join(", "));
    text += &tables::table(status, &state.decisions);
    text
}
