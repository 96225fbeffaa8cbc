//! `tune fleet status`: how far a plan is, from the store alone.

use std::process::ExitCode;

use kiln_fleet::{Decision, Plan, Seen, TaskDecision};
use serde_json::json;

use super::tables;
use crate::cli::StatusArgs;
use crate::commands::output::{checked, print, print_json};
use crate::error::Failure;
use crate::fleet::signer;
use crate::fleet::state::PlanState;

pub(super) fn run(args: &StatusArgs) -> Result<ExitCode, Failure> {
    let plan = signer::read(&args.plan.plan)?;
    let store = super::store(&args.plan.store)?;
    // Who signed earlier plans decides nothing here.
    let state = PlanState::read(&*store, &plan, None, &mut Seen::default())?;
    let complaints = state.complaints();
    if args.output.json {
        print_json(&json!({
            "plan": plan.plan.id(),
            "elements": plan.plan.elements.len(),
            "finished": state.finished,
            "journals": state.observations.sources().count(),
            "records": state.observations.len(),
            "root": state.observations.root_hash(),
            "tasks": tables::to_json(&plan.plan, &state.decisions),
            "complaints": complaints,
        }))?;
    } else {
        print(&text(&plan.plan, &state));
        complaints.iter().for_each(|line| eprintln!("tune: {line}"));
    }
    Ok(checked(true))
}

fn text(plan: &Plan, state: &PlanState) -> String {
    let all = plan.elements.len();
    let done = state.finished.len();
    // One character for each twentieth.
    let filled = (20 * done).checked_div(all).unwrap_or(20);
    let bar = "#".repeat(filled) + &".".repeat(20 - filled);
    let mut text = format!(
        "plan {}: [{bar}] {done} of {all} elements, {} journals, {} records\n",
        &plan.id()[..12],
        state.observations.sources().count(),
        state.observations.len()
    );
    let count = |is: fn(&Decision) -> bool| {
        let decisions = state.decisions.iter();
        decisions
            .filter(|task: &&TaskDecision| is(&task.decision))
            .count()
    };
    let counts = [
        (
            count(|one| matches!(one, Decision::Proven { .. })),
            "proven",
        ),
        (
            count(|one| matches!(one, Decision::Kept | Decision::Stopped { .. })),
            "keep the baseline",
        ),
        (
            count(|one| matches!(one, Decision::NeedsReplica { .. })),
            "need another device",
        ),
        (
            count(|one| matches!(one, Decision::Searched { .. })),
            "need a final",
        ),
        (count(|one| matches!(one, Decision::Missing)), "missing"),
    ];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    text += &format!("{}\n\n", counts.join(", "));
    text += &tables::table(plan, &state.decisions);
    text
}
