//! Compares saved kernels with the current kernels in one session.
//!
//! Saved times are never compared with current times. Each saved kernel is compiled again, with the saved prelude and
//! flags and the current compiler. The saved and the current kernel are verified against the same expected outputs, and
//! receipts prove which kernel each of them launched. They are then timed in pairs of fresh processes.

use std::time::Duration;

use kiln::compiler::BuildKind;
use kiln_cache::Outcome;
use kiln_spec::KernelSpec;

use super::error::why;
use super::plan::{Pair, Plan, of_saved};
use super::saved::Section;
use super::stage::{self, Scene, WatchSession};
use super::verdict::{Compared, Gate, Side, WatchRow, WatchVerdict};
use crate::progress::Counter;
use crate::run::budget::Budget;
use kiln_lab::candidate::{Compiled, Draft};
use kiln_lab::verify::Proof;
use kiln_measure::{
    ArmId, ComparisonSettings, Doubt, Fault, Quartiles, Ruling, Sequential as _, SideComparison,
    drive,
};

/// The arm of the saved kernel, which is the first arm. `NOW` is the arm of the current kernel.
const THEN: ArmId = ArmId(0);
const NOW: ArmId = ArmId(1);

/// The data that all comparisons of a command share.
pub struct Terms<'a> {
    /// The thresholds for failing and for the verdict `same`.
    pub gate: Gate,
    /// Number of comparisons in the whole command.
    pub claims: u32,
    /// The total time for all comparisons.
    pub budget: &'a Budget,
    /// Counts the comparisons that are finished.
    pub progress: &'a Counter,
}

/// Carries out the planned comparisons. Plans with a known result are only reported.
pub fn carry_out(
    stage: &WatchSession<'_>,
    section: &Section,
    plans: Vec<Plan<'_>>,
    terms: &Terms<'_>,
) -> Vec<WatchRow> {
    let mut left = plans
        .iter()
        .filter(|plan| matches!(plan, Plan::Measure(_)))
        .count();
    let mut rows = Vec::with_capacity(plans.len());
    for plan in plans {
        rows.push(match plan {
            Plan::Said(row) => row,
            Plan::Measure(pair) => {
                let budget_ns = budget_ns(terms.budget, left);
                left -= 1;
                let row = measure(stage, section, &pair, terms, budget_ns);
                terms.progress.step();
                row
            }
        });
    }
    for row in &mut rows {
        row.fails = terms.gate.fails(row);
    }
    rows
}

/// The time in nanoseconds for the next of `left` comparisons: 0 if the budget is used up, and `u64::MAX` if there is
/// no limit.
pub fn budget_ns(budget: &Budget, left: usize) -> u64 {
    let share = budget.slice(1, left).confirm_left();
    share.map_or(u64::MAX, |share: Duration| {
        u64::try_from(share.as_nanos()).unwrap_or(u64::MAX)
    })
}

/// A verdict that is reached before the measurement, and the reason.
type Early = (WatchVerdict, String);

fn measure(
    stage: &WatchSession<'_>,
    section: &Section,
    pair: &Pair<'_>,
    terms: &Terms<'_>,
    budget_ns: u64,
) -> WatchRow {
    let outcome = if budget_ns == 0 {
        Err((WatchVerdict::Inconclusive, "no time was left for it".into()))
    } else {
        compare(stage, pair, terms, budget_ns)
    };
    match outcome {
        Err((verdict, reason)) => of_saved(pair.saved, section, verdict, reason),
        Ok((verdict, reason, compared)) => WatchRow {
            measured: Some(Box::new(compared)),
            ..of_saved(pair.saved, section, verdict, reason)
        },
    }
}

/// One side of a comparison, after verification: it compiles, its outputs are right, and it launches what was intended.
struct Proven {
    made: Compiled,
    proof: Proof,
}

impl Proven {
    fn new(
        stage: &WatchSession<'_>,
        scene: &Scene<'_>,
        spec: &KernelSpec,
        draft: &Draft,
    ) -> Result<Proven, Outcome> {
        let made = stage
            .workshop
            .make_draft(draft.clone(), BuildKind::Release)?;
        let proof = scene.verify(spec, &made)?;
        Ok(Proven { made, proof })
    }

    fn side(self, time: Option<Quartiles>) -> Side {
        Side {
            config: self.made.arm.config.to_string(),
            symbol: self.made.arm.release,
            receipt: stage::receipt(&self.proof),
            time,
        }
    }
}

fn compare(
    stage: &WatchSession<'_>,
    pair: &Pair<'_>,
    terms: &Terms<'_>,
    budget_ns: u64,
) -> Result<(WatchVerdict, String, Compared), Early> {
    let scene = stage.scene(pair.kernel, pair.problem, &pair.now.config);
    let scene = scene.map_err(|error| (WatchVerdict::Failed, error.to_string()))?;
    let now = Proven::new(stage, &scene, &pair.kernel.spec, &pair.now);
    let now = now.map_err(|outcome| (WatchVerdict::Failed, outcome.to_string()))?;
    let then = Proven::new(stage, &scene, &pair.then.spec, &pair.then.draft);
    let then = then.map_err(|outcome| saved_side_fails(&outcome, scene.has_reference()))?;
    let lab = scene.lab(&[&then.made.arm, &now.made.arm]);
    let mut lab = lab.map_err(|fault| of_fault(&fault))?;
    let (seed, margin) = (
        stage.seed_of(pair.kernel, pair.problem),
        terms.gate.margin(),
    );
    let mut settings = ComparisonSettings::new(stage.resolution(), seed, terms.claims, margin);
    settings.confirm.budget_ns = budget_ns;
    let expected = stage::expected(&lab, THEN, NOW);
    let mut comparison = SideComparison::new(THEN, NOW, expected, settings);
    drive(&mut lab, &mut comparison, &mut |_| {});
    let (verdict, reason) = said(&comparison, pair)?;
    let evidence = comparison.evidence();
    let compared = Compared {
        ratio: evidence.median_ratio,
        interval: evidence.interval,
        processes: evidence.processes,
        faster_in: evidence.wins,
        comparisons: comparison.settings().claims,
        then: then.side(evidence.defender),
        now: now.side(evidence.challenger),
        recorded_ns: pair.saved.recorded.map(|recorded| recorded.median_ns),
    };
    Ok((verdict, reason, compared))
}

/// The verdict if the saved kernel cannot be used. If its outputs differ from the expected outputs and no reference
/// shows which side is right, the current kernel fails. Without this rule, a kernel that became wrong together with its
/// own baseline would pass.
fn saved_side_fails(outcome: &Outcome, has_reference: bool) -> Early {
    let is_wrong = matches!(outcome, Outcome::Incorrect(_) | Outcome::NotANumber { .. });
    if has_reference || !is_wrong {
        return (WatchVerdict::Broken, outcome.to_string());
    }
    let reason = format!(
        "its outputs differ from those of the saved kernel, and no plain-Rust reference tells which are right: saved \
         kernel {outcome}; help: if the new outputs are right, save them with `tune bench --save`"
    );
    (WatchVerdict::Failed, reason)
}

/// The verdict if an arm fails during timing: a verdict on the side that failed, or `inconclusive` if neither side is
/// at fault.
fn of_fault(fault: &Fault) -> Early {
    let verdict = match fault.arm {
        Some(NOW) => WatchVerdict::Failed,
        Some(THEN) => WatchVerdict::Broken,
        _ => WatchVerdict::Inconclusive,
    };
    (verdict, fault.outcome.to_string())
}

fn said(comparison: &SideComparison, pair: &Pair<'_>) -> Result<(WatchVerdict, String), Early> {
    let changed = pair.changes.clone();
    Ok(match comparison.ruling() {
        Some(Ruling::Slower) => (WatchVerdict::Slower, changed),
        Some(Ruling::Faster) => (WatchVerdict::Faster, changed),
        Some(Ruling::Same) => (WatchVerdict::Same, changed),
        Some(Ruling::Open(Some(Doubt::Faulted(fault)))) => return Err(of_fault(fault)),
        Some(Ruling::Open(doubt)) => (
            WatchVerdict::Inconclusive,
            format!("{}; {changed}", why(doubt.as_ref())),
        ),
        None => (WatchVerdict::Inconclusive, changed),
    })
}
