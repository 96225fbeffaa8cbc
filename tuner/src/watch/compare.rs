//! Saved kernels against those of now, in one session.
//!
//! Times of then are never compared with times of now. Each saved kernel is built again, with the prelude and flags of then
//! and the compiler of now; both sides are verified against the same expected outputs, prove by receipts what they launch,
//! and are timed in pairs of fresh processes.

use std::time::Duration;

use kiln::compiler::BuildKind;
use kiln_spec::{KernelSpec, Problem};

use super::kept::{self, Revived};
use super::present::present;
use super::saved::{Saved, SavedKernel, Section};
use super::stage::{self, Stage};
use super::verdict::{Compared, Gate, Row, Side, Verdict};
use crate::budget::Budget;
use crate::candidate::{Compiled, Draft};
use crate::exit::Failure;
use crate::measure::{
    ArmId, Comparison, ComparisonSettings, Doubt, Fault, Ruling, Sequential as _, drive,
};
use crate::progress::Counter;
use crate::project::{Project, TunedKernel};
use crate::verify::Proof;

/// The saved side is loaded as the first arm.
const THEN: ArmId = ArmId(0);
const NOW: ArmId = ArmId(1);

/// A saved kernel that can be compared with one of now.
pub struct Pair<'a> {
    saved: &'a SavedKernel,
    kernel: &'a TunedKernel,
    problem: &'a Problem,
    then: Revived,
    now: Draft,
    changes: String,
}

/// What is to be done about one kernel and problem.
pub enum Plan<'a> {
    /// It is said already.
    Said(Row),
    /// It is to be measured.
    Measure(Box<Pair<'a>>),
}

/// Which kernels of a file are meant.
#[derive(Clone, Copy)]
pub struct Chosen<'a> {
    /// The kernels of now.
    pub project: &'a Project,
    /// The packages that the flags chose; all where the flag is not given.
    pub package: Option<&'a str>,
    /// Names of kernels; all where none is given.
    pub kernels: &'a [String],
    /// Problems by their text; all where none is given.
    pub problems: &'a [String],
}

impl<'a> Chosen<'a> {
    /// Whether a kernel and problem are meant.
    fn is(&self, package: &str, kernel: &str, problem: &str) -> bool {
        let any = |wanted: &[String], name: &str| {
            wanted.is_empty() || wanted.iter().any(|wanted| wanted == name)
        };
        self.package.is_none_or(|wanted| wanted == package)
            && any(self.kernels, kernel)
            && any(self.problems, problem)
    }

    /// The kernel and problem of now that go by the same names.
    fn now_of(&self, saved: &SavedKernel) -> Result<(&'a TunedKernel, &'a Problem), &'static str> {
        let same = |kernel: &&TunedKernel| {
            kernel.package == saved.package && kernel.spec.name == saved.kernel
        };
        let kernel = self.project.kernels.iter().find(same);
        let kernel = kernel.ok_or("no kernel of that name is declared any more")?;
        let problem = kernel
            .spec
            .problems
            .iter()
            .find(|problem| problem.to_string() == saved.problem);
        Ok((
            kernel,
            problem.ok_or("the kernel no longer declares this problem")?,
        ))
    }
}

fn row(
    kernel: (&str, &str, &str),
    device: String,
    verdict: Verdict,
    reason: impl Into<String>,
) -> Row {
    let (package, name, problem) = kernel;
    Row {
        package: package.into(),
        kernel: name.into(),
        problem: problem.into(),
        device,
        verdict,
        reason: reason.into(),
        fails: false,
        measured: None,
    }
}

fn of_saved(
    saved: &SavedKernel,
    section: &Section,
    verdict: Verdict,
    reason: impl Into<String>,
) -> Row {
    let names = (
        saved.package.as_str(),
        saved.kernel.as_str(),
        saved.problem.as_str(),
    );
    row(names, section.device.to_string(), verdict, reason)
}

/// The rows of a section whose device is not here.
pub fn elsewhere(chosen: &Chosen<'_>, section: &Section, here: &str) -> Vec<Row> {
    let meant = |saved: &&SavedKernel| chosen.is(&saved.package, &saved.kernel, &saved.problem);
    let reason = format!("saved on another device than {here}");
    let saved = section.kernels.iter().filter(meant);
    saved
        .map(|saved| of_saved(saved, section, Verdict::OtherDevice, reason.as_str()))
        .collect()
}

/// What is to be done about each kernel and problem of a section on a device, and those of now that the section lacks.
///
/// # Errors
/// When a table of baked rows cannot be read.
pub fn plan<'a>(
    stage: &Stage<'_>,
    chosen: &Chosen<'a>,
    file: &Saved,
    section: &'a Section,
) -> Result<Vec<Plan<'a>>, Failure> {
    let mut plans = Vec::new();
    for saved in &section.kernels {
        if chosen.is(&saved.package, &saved.kernel, &saved.problem) {
            plans.push(plan_one(stage, chosen, file, section, saved)?);
        }
    }
    for kernel in &chosen.project.kernels {
        for problem in &kernel.spec.problems {
            let text = problem.to_string();
            let names = (
                kernel.package.as_str(),
                kernel.spec.name.as_str(),
                text.as_str(),
            );
            let known = |saved: &SavedKernel| {
                (
                    saved.package.as_str(),
                    saved.kernel.as_str(),
                    saved.problem.as_str(),
                ) == names
            };
            if chosen.is(names.0, names.1, names.2) && !section.kernels.iter().any(known) {
                let device = stage.info.key.to_string();
                plans.push(Plan::Said(row(
                    names,
                    device,
                    Verdict::New,
                    "not in the file",
                )));
            }
        }
    }
    Ok(plans)
}

fn plan_one<'a>(
    stage: &Stage<'_>,
    chosen: &Chosen<'a>,
    file: &Saved,
    section: &'a Section,
    saved: &'a SavedKernel,
) -> Result<Plan<'a>, Failure> {
    let said = |verdict, reason: String| Ok(Plan::Said(of_saved(saved, section, verdict, reason)));
    let (kernel, problem) = match chosen.now_of(saved) {
        Ok(found) => found,
        Err(reason) => return said(Verdict::Gone, reason.into()),
    };
    let compiler = stage.workshop.compiler;
    let then = match kept::revive(file, section, saved, compiler) {
        Ok(then) => then,
        Err(reason) => return said(Verdict::Broken, reason),
    };
    let selected = present(chosen.project, kernel, problem, stage.info)?;
    let now = match stage.workshop.draft(kernel, selected.which(), problem) {
        Ok(now) => now,
        Err(outcome) => return said(Verdict::Failed, outcome.to_string()),
    };
    let backend = stage.info.key.backend;
    if kept::is_identical(&then.draft, &now, backend, compiler) {
        return said(Verdict::Same, "identical code, nothing to measure".into());
    }
    if let Some(reason) = kept::other_arguments(&then.spec, &kernel.spec) {
        return said(Verdict::Changed, reason);
    }
    let changes = kept::changes(saved, &then, (kernel, &now), backend).join(", ");
    Ok(Plan::Measure(Box::new(Pair {
        saved,
        kernel,
        problem,
        then,
        now,
        changes: format!("changed: {changes}"),
    })))
}

/// What comparisons of a run share.
pub struct Terms<'a> {
    /// What fails, and what counts as the same.
    pub gate: Gate,
    /// Comparisons in the whole run.
    pub claims: u32,
    /// The time for all of them.
    pub budget: &'a Budget,
    /// Told of each that is done.
    pub progress: &'a Counter,
}

/// Measures what is to be measured, and says the rest.
pub fn carry_out(
    stage: &Stage<'_>,
    section: &Section,
    plans: Vec<Plan<'_>>,
    terms: &Terms<'_>,
) -> Vec<Row> {
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

/// The time of the next of so many that are left; 0 where none is.
pub fn budget_ns(budget: &Budget, left: usize) -> u64 {
    let share = budget.slice(left).confirm_left();
    share.map_or(u64::MAX, |share: Duration| {
        u64::try_from(share.as_nanos()).unwrap_or(u64::MAX)
    })
}

/// A row that came to nothing, with why.
type Early = (Verdict, String);

fn measure(
    stage: &Stage<'_>,
    section: &Section,
    pair: &Pair<'_>,
    terms: &Terms<'_>,
    budget_ns: u64,
) -> Row {
    let outcome = if budget_ns == 0 {
        Err((Verdict::Inconclusive, "no time was left for it".into()))
    } else {
        compare(stage, pair, terms, budget_ns)
    };
    match outcome {
        Err((verdict, reason)) => of_saved(pair.saved, section, verdict, reason),
        Ok((verdict, reason, compared)) => Row {
            measured: Some(Box::new(compared)),
            ..of_saved(pair.saved, section, verdict, reason)
        },
    }
}

fn compare(
    stage: &Stage<'_>,
    pair: &Pair<'_>,
    terms: &Terms<'_>,
    budget_ns: u64,
) -> Result<(Verdict, String, Compared), Early> {
    let (failed, broken) = (early(Verdict::Failed), early(Verdict::Broken));
    let scene = stage
        .scene(pair.kernel, pair.problem, &pair.now.config)
        .map_err(&failed)?;
    let verified = |spec: &KernelSpec, draft: &Draft| -> Result<(Compiled, Proof), String> {
        let made = stage.workshop.make_draft(draft.clone(), BuildKind::Release);
        let made = made.map_err(|outcome| outcome.to_string())?;
        let proof = scene.verify(spec, &made)?;
        Ok((made, proof))
    };
    let now = verified(&pair.kernel.spec, &pair.now).map_err(failed)?;
    let then = verified(&pair.then.spec, &pair.then.draft).map_err(broken)?;
    let lab = scene.lab(&[&then.0.arm, &now.0.arm]);
    let mut lab = lab.map_err(|fault| of_fault(&fault))?;
    let seed = stage.seed_of(pair.kernel, pair.problem);
    let margin = terms.gate.margin();
    let mut settings = ComparisonSettings::new(stage.resolution(), seed, terms.claims, margin);
    settings.confirm.budget_ns = budget_ns;
    let expected = stage::expected(&lab, THEN, NOW);
    let mut comparison = Comparison::new(THEN, NOW, expected, settings);
    drive(&mut lab, &mut comparison, &mut |_| {});
    let (verdict, reason) = said(&comparison, pair)?;
    let evidence = comparison.evidence();
    let side = |(made, proof): (Compiled, Proof), time| Side {
        config: made.arm.config.to_string(),
        symbol: made.arm.release,
        receipt: stage::receipt(&proof),
        time,
    };
    let compared = Compared {
        ratio: evidence.median_ratio,
        interval: evidence.interval,
        processes: evidence.processes,
        faster_in: evidence.wins,
        comparisons: comparison.settings().claims,
        then: side(then, evidence.defender),
        now: side(now, evidence.challenger),
        recorded_ns: pair.saved.recorded.map(|recorded| recorded.median_ns),
    };
    Ok((verdict, reason, compared))
}

fn early(verdict: Verdict) -> impl Fn(String) -> Early {
    move |reason| (verdict, reason)
}

/// A side that fails while it is timed has failed, whichever it is.
fn of_fault(fault: &Fault) -> Early {
    let verdict = match fault.arm {
        Some(NOW) => Verdict::Failed,
        Some(THEN) => Verdict::Broken,
        _ => Verdict::Inconclusive,
    };
    (verdict, fault.cause.to_string())
}

fn said(comparison: &Comparison, pair: &Pair<'_>) -> Result<(Verdict, String), Early> {
    let changed = pair.changes.clone();
    Ok(match comparison.ruling() {
        Some(Ruling::Slower) => (Verdict::Slower, changed),
        Some(Ruling::Faster) => (Verdict::Faster, changed),
        Some(Ruling::Same) => (Verdict::Same, changed),
        Some(Ruling::Open(Some(Doubt::Faulted(fault)))) => return Err(of_fault(fault)),
        Some(Ruling::Open(doubt)) => (
            Verdict::Inconclusive,
            format!("{}; {changed}", stage::why(doubt.as_ref())),
        ),
        None => (Verdict::Inconclusive, changed),
    })
}
