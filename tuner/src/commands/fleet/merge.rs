//! `tune fleet merge`: verifies the results in a store, writes the rows that are proven, and plans the remaining work.

use std::process::ExitCode;

use kiln_fleet::{Decision, Plan, Seen};
use serde_json::json;

use super::tables;
use crate::cli::MergeArgs;
use crate::commands::output::{checked, print, print_json};
use crate::error::Failure;
use crate::fleet::state::PlanState;
use crate::fleet::{self, FleetError, PlanFile, proofs, signer};

pub(super) fn run(args: &MergeArgs) -> Result<ExitCode, Failure> {
    let plan = signer::read_current(&args.plan.plan)?;
    let project = super::project_of(&plan.plan().package, args.manifest_path.as_deref())?;
    let signers = super::allowed_signers(args.allowed_signers.as_deref(), &project);
    let who = signer::check(&plan.signed, &plan.path, &signers)?;
    let store = super::store(&args.plan.store)?;
    let seen_file = signer::beside(&args.plan.plan, "seen");
    let mut seen = Seen::load(&seen_file).map_err(FleetError::from)?;
    let state = PlanState::read(&*store, &plan, Some(&signers), &mut seen)?;
    let winners = [state.proven(), state.kept()].concat();
    let kernels = winners.iter().map(|winner| winner.kernel.as_str());
    fleet::check_sources(&project, plan.plan(), kernels)?;
    let (mut written, mut proofs) = (Vec::new(), Vec::new());
    if !args.dry_run {
        seen.save(&seen_file).map_err(FleetError::from)?;
        written = fleet::write_rows(&project, &winners)?;
        proofs = proofs::write(&project, &written, &state.plans, &state.statements())?;
    }
    let status = tables::status(plan.plan(), &state, Some(who.clone()));
    let complaints = &status.complaints;
    let next = args
        .next
        .as_ref()
        .map(|path| next(args, &plan, &state, path));
    let next = next.transpose()?.flatten();
    if let (Some(path), None) = (&args.next, &next) {
        eprintln!(
            "tune: {} is not written: {}",
            path.display(),
            FleetError::NothingLeft
        );
    }
    if args.output.json {
        print_json(&json!({
            "plan": plan.plan().id(),
            "signed_by": who,
            "tasks": status.tasks,
            "tables": written.iter().map(|table| &table.path).collect::<Vec<_>>(),
            "proofs": proofs,
            "next": next.as_ref().map(|next| &next.path),
            "complaints": complaints,
        }))?;
    } else {
        let mut text = format!("plan {}, signed by {who}\n\n", &plan.plan().id()[..12]);
        text += &tables::table(&status, &state.decisions);
        text.push('\n');
        for table in &written {
            let rows = table.rows.len();
            text += &format!(
                "wrote {} ({rows} rows of this plan)\n",
                table.path.display()
            );
        }
        for proof in &proofs {
            text += &format!("wrote {}\n", proof.display());
        }
        text += &left(plan.plan(), &state, args, next.as_ref());
        print(&text);
        complaints.iter().for_each(|line| eprintln!("tune: {line}"));
    }
    Ok(checked(complaints.is_empty()))
}

/// Writes, signs and stores the plan of the remaining work; `None` if no work remains.
fn next(
    args: &MergeArgs,
    plan: &PlanFile,
    state: &PlanState,
    path: &std::path::Path,
) -> Result<Option<PlanFile>, Failure> {
    signer::check_new(path)?;
    let key = signer::signing_key(args.sign.as_deref())?;
    let (next, worker) = match fleet::continuing(plan.plan(), &state.decisions) {
        Err(FleetError::NothingLeft) => return Ok(None),
        continuing => continuing?,
    };
    let store = super::store(&args.plan.store)?;
    let signed = signer::write(path, next, &key)?;
    signer::write_worker_key(path, &worker)?;
    kiln_fleet::collect::put_plan(&*store, signed.plan(), &signed.signed.signature)
        .map_err(FleetError::from)?;
    Ok(Some(signed))
}

/// The message that says what remains to be done.
fn left(plan: &Plan, state: &PlanState, args: &MergeArgs, next: Option<&PlanFile>) -> String {
    let store = &args.plan.store;
    if let Some(next) = next {
        let (elements, path) = (next.plan().elements.len(), next.path.display());
        return format!(
            "next: {path} has {elements} elements: tune fleet job {path} --store {store} --engine slurm\n"
        );
    }
    let open = |decision: &Decision| {
        matches!(
            decision,
            Decision::Searched { .. } | Decision::NeedsReplica { .. }
        )
    };
    let open = state
        .decisions
        .iter()
        .filter(|task| open(&task.decision))
        .count();
    let missing = plan.elements.len() - state.finished.len();
    let path = args.plan.plan.display();
    match (missing, open) {
        (0, 0) => "nothing is left to do\n".to_owned(),
        (0, open) => format!(
            "{open} problems need another session: tune fleet merge {path} --store {store} --next fleet-2.plan\n"
        ),
        (missing, _) => format!(
            "{missing} elements are missing: tune fleet job {path} --store {store} --missing --engine slurm\n"
        ),
    }
}
