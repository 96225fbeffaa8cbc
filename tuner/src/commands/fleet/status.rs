//! `tune fleet status`: reports the progress of a plan from the content of the store.

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
    // The status does not depend on who signed earlier plans, so signatures are not checked against a list of signers.
    let state = PlanState::read(&*store, &plan, None, &mut Seen::default())?;
    let status = tables::status(plan.plan(), &state);
    if args.output.json {
        print_json(&status)?;
    } else {
        print(&text(&status, &state));
        let complaints = status.complaints.iter();
        complaints.for_each(|line| eprintln!("tune: {line}"));
    }
    Ok(checked(true))
}

fn text(status: &PlanStatus, state: &PlanState) -> String {
    let (all, done) = (status.elements, status.finished.len());
    // One character per twentieth.
    let filled = (20 * done).checked_div(all).unwrap_or(20);
    let bar = "#".repeat(filled) + &".".repeat(20 - filled);
    let mut text = format!(
        "plan {}: [{bar}] {done} of {all} elements, {} journals, {} records\n",
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
