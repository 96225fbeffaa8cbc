//! The state of a plan: what a store contains for the plan and for the plans that it continues, and the decisions that
//! follow.

use std::collections::BTreeSet;
use std::path::Path;

use kiln_cache::Winner;
use kiln_cache::record::{KeptReason, Verdict};
use kiln_fleet::collect::{self, Collected};
use kiln_fleet::{
    Decision, ObjectStore, Observations, Plan, Seen, SignedPlan, SignedStatement, TaskDecision,
    decide, fold,
};

use super::FleetError;
use super::signer::{self, PlanFile};
use crate::error::Failure;
use crate::run::clock::unix_s;

/// Maximum number of plans that are read: a plan, the plan that it continues, the plan that the latter continues, and
/// so on.
const MAX_CHAIN: usize = 64;

/// The state of a plan, derived from the content of a store.
#[derive(Debug)]
pub struct PlanState {
    /// The plan and the plans that it continues, newest first, with their signatures.
    pub plans: Vec<SignedPlan>,
    /// What the store contains for each of `plans`, in the same order.
    pub collected: Vec<Collected>,
    /// The records of all verified segments.
    pub observations: Observations,
    /// The numbers of the plan's elements that an attempt has finished.
    pub finished: BTreeSet<u32>,
    /// The decision for each task.
    pub decisions: Vec<TaskDecision>,
}

impl PlanState {
    /// Reads and verifies everything that a store contains for a plan and for the earlier plans that it continues. The
    /// earlier plans are read from the store and must be signed by a signer in the file `signers`; `None` skips this
    /// check. `seen` records how far each journal was read before, so the removal of records from the store is
    /// detected.
    ///
    /// # Errors
    /// If the store or the file of signers cannot be read, or if an earlier plan is not signed by an allowed signer.
    pub fn read(
        store: &dyn ObjectStore,
        plan: &PlanFile,
        signers: Option<&Path>,
        seen: &mut Seen,
    ) -> Result<PlanState, Failure> {
        let plans = chain(store, plan, signers)?;
        let now = unix_s();
        let mut collected = Vec::new();
        for plan in &plans {
            let of_plan = kiln_fleet::collect(store, &plan.plan, now, seen);
            collected.push(of_plan.map_err(FleetError::from)?);
        }
        let mut observations = Observations::default();
        for of_plan in &collected {
            observations.merge(fold(&of_plan.segments));
        }
        let continued: Vec<Plan> = plans[1..].iter().map(|plan| plan.plan.clone()).collect();
        Ok(PlanState {
            finished: decide::finished(plan.plan(), &observations),
            decisions: kiln_fleet::decide(plan.plan(), &continued, &observations),
            observations,
            plans,
            collected,
        })
    }

    /// The winners that enough devices have proven.
    pub fn proven(&self) -> Vec<Winner> {
        let proven = self
            .decisions
            .iter()
            .filter_map(|task| match &task.decision {
                Decision::Proven { winner, .. } => Some((**winner).clone()),
                _ => None,
            });
        proven.collect()
    }

    /// For each task that keeps the baseline, the first conclusive result of a session (one attempt at an element) that
    /// kept the baseline. Such a result claims no speed-up, so one session is enough. Tasks without such a result are
    /// left out.
    pub fn kept(&self) -> Vec<Winner> {
        let stays = |task: &&TaskDecision| {
            matches!(task.decision, Decision::Kept | Decision::Stopped { .. })
        };
        let kept = |winner: &&Winner| match winner.verdict {
            Verdict::BaselineKept { reason } => reason != KeptReason::Inconclusive,
            Verdict::Proven { .. } => false,
        };
        let of_task = |task: &TaskDecision| {
            let mut winners = task
                .sessions
                .iter()
                .filter_map(|session| session.winner.as_ref());
            winners.find(kept).cloned()
        };
        self.decisions
            .iter()
            .filter(stays)
            .filter_map(of_task)
            .collect()
    }

    /// All statements that workers published.
    pub fn statements(&self) -> Vec<SignedStatement> {
        let statements = self
            .collected
            .iter()
            .flat_map(|of_plan| &of_plan.statements);
        statements.cloned().collect()
    }

    /// Descriptions of the faults that were found in the store, one line per fault.
    pub fn complaints(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for of_plan in &self.collected {
            let rejected = of_plan.rejected.iter();
            lines.extend(
                rejected.map(|one| format!("rejected {}: {}", one.name, first_line(&one.why))),
            );
            lines.extend(
                of_plan
                    .ignored
                    .iter()
                    .map(|name| format!("ignored {name}: this is not the name of a store object")),
            );
            let gaps = of_plan.gaps.iter();
            lines.extend(gaps.map(|gap| {
                format!(
                    "journal {}: records {} to {} are missing",
                    gap.journal, gap.first, gap.last
                )
            }));
            let forks = of_plan.forks.iter();
            lines.extend(forks.map(|fork| {
                format!(
                    "journal {}: it has two histories from record {} on",
                    fork.journal, fork.sequence
                )
            }));
            let rollbacks = of_plan.rollbacks.iter();
            lines.extend(rollbacks.map(|back| {
                format!(
                    "journal {}: the store had records up to {} and now has {}: it was set back, or objects were deleted",
                    back.journal, back.seen, back.found
                )
            }));
        }
        lines
    }
}

fn first_line(why: &impl ToString) -> String {
    let text = why.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}

/// A plan and the plans that it continues, which are read from the store: at most [`MAX_CHAIN`] plans.
fn chain(
    store: &dyn ObjectStore,
    plan: &PlanFile,
    signers: Option<&Path>,
) -> Result<Vec<SignedPlan>, Failure> {
    let mut plans = vec![plan.signed.clone()];
    let mut next = plan.plan().previous.clone();
    while let Some(id) = next.take_if(|_| plans.len() < MAX_CHAIN) {
        let earlier = collect::get_plan(store, &id).map_err(FleetError::from)?;
        if let Some(signers) = signers {
            signer::check(&earlier, Path::new(&id), signers)?;
        }
        next = earlier.plan.previous.clone();
        plans.push(earlier);
    }
    Ok(plans)
}
