//! Decides for each saved kernel whether it must be measured or whether its result is known without a measurement.

use kiln_spec::Problem;

use super::kept::{self, Revived};
use super::saved::{Saved, SavedKernel, Section};
use super::stage::WatchSession;
use super::verdict::{WatchRow, WatchVerdict};
use crate::error::Failure;
use crate::tables::current::present;
use kiln_lab::candidate::Draft;
use kiln_project::{Project, TunedKernel};

/// A saved kernel and the current kernel with which it is compared.
pub struct Pair<'a> {
    pub(super) saved: &'a SavedKernel,
    pub(super) kernel: &'a TunedKernel,
    pub(super) problem: &'a Problem,
    pub(super) then: Revived,
    pub(super) now: Draft,
    /// The parts that changed, as text.
    pub(super) changes: String,
}

/// The plan for one kernel and problem.
pub enum Plan<'a> {
    /// The result is known without measuring.
    Said(WatchRow),
    /// The result must be measured.
    Measure(Box<Pair<'a>>),
}

/// Selects kernels of a file.
#[derive(Clone, Copy)]
pub struct Chosen<'a> {
    /// The project with the current kernels.
    pub project: &'a Project,
    /// The selected package; `None` for all packages.
    pub package: Option<&'a str>,
    /// The names of the selected kernels; all kernels if empty.
    pub kernels: &'a [String],
    /// The selected problems, as text; all problems if empty.
    pub problems: &'a [String],
}

impl<'a> Chosen<'a> {
    /// Whether a kernel and a problem are selected.
    fn is(&self, package: &str, kernel: &str, problem: &str) -> bool {
        let any = |wanted: &[String], name: &str| {
            wanted.is_empty() || wanted.iter().any(|wanted| wanted == name)
        };
        self.package.is_none_or(|wanted| wanted == package)
            && any(self.kernels, kernel)
            && any(self.problems, problem)
    }

    /// The current kernel and problem with the same names as a saved kernel. If there is none, the error is the reason.
    fn now_of(&self, saved: &SavedKernel) -> Result<(&'a TunedKernel, &'a Problem), &'static str> {
        let same = |kernel: &&TunedKernel| {
            kernel.package == saved.package && kernel.spec.name == saved.kernel
        };
        let kernel = self.project.kernels.iter().find(same);
        let kernel = kernel.ok_or("no kernel of that name is declared any more")?;
        let problem = kernel
            .spec
            .all_problems()
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
    verdict: WatchVerdict,
    reason: impl Into<String>,
) -> WatchRow {
    let (package, name, problem) = kernel;
    WatchRow {
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

/// The row for a saved kernel.
pub(super) fn of_saved(
    saved: &SavedKernel,
    section: &Section,
    verdict: WatchVerdict,
    reason: impl Into<String>,
) -> WatchRow {
    let names = (
        saved.package.as_str(),
        saved.kernel.as_str(),
        saved.problem.as_str(),
    );
    row(names, section.device.to_string(), verdict, reason)
}

/// The rows of a section that was saved on a kind of device that this machine does not have. `here` lists the devices
/// of this machine.
pub fn elsewhere(chosen: &Chosen<'_>, section: &Section, here: &str) -> Vec<WatchRow> {
    let meant = |saved: &&SavedKernel| chosen.is(&saved.package, &saved.kernel, &saved.problem);
    let reason = format!("saved on another device than {here}");
    let saved = section.kernels.iter().filter(meant);
    saved
        .map(|saved| of_saved(saved, section, WatchVerdict::OtherDevice, reason.as_str()))
        .collect()
}

/// Plans each selected kernel and problem of a section. Selected kernels and problems of the project that are missing
/// from the section are reported as new.
///
/// # Errors
/// If a table of baked rows cannot be read.
pub fn plan<'a>(
    stage: &WatchSession<'_>,
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
    plans.extend(new(stage, chosen, section).into_iter().map(Plan::Said));
    Ok(plans)
}

/// The rows of kernels and problems that are missing from a section.
fn new(stage: &WatchSession<'_>, chosen: &Chosen<'_>, section: &Section) -> Vec<WatchRow> {
    let device = stage.info.key.to_string();
    let mut rows = Vec::new();
    for kernel in &chosen.project.kernels {
        let (package, name) = (kernel.package.as_str(), kernel.spec.name.as_str());
        for problem in kernel.spec.problems_on(stage.info.key.backend) {
            let text = problem.to_string();
            let known = section.kernels.iter().any(|saved| {
                saved.package == package && saved.kernel == name && saved.problem == text
            });
            if !known && chosen.is(package, name, &text) {
                let names = (package, name, text.as_str());
                rows.push(row(
                    names,
                    device.clone(),
                    WatchVerdict::New,
                    "not in the file",
                ));
            }
        }
    }
    rows
}

fn plan_one<'a>(
    stage: &WatchSession<'_>,
    chosen: &Chosen<'a>,
    file: &Saved,
    section: &'a Section,
    saved: &'a SavedKernel,
) -> Result<Plan<'a>, Failure> {
    let said = |verdict, reason: String| Ok(Plan::Said(of_saved(saved, section, verdict, reason)));
    let (kernel, problem) = match chosen.now_of(saved) {
        Ok(found) => found,
        Err(reason) => return said(WatchVerdict::Gone, reason.into()),
    };
    let compiler = stage.workshop.compiler;
    let then = match kept::revive(file, section, saved, compiler) {
        Ok(then) => then,
        Err(error) => return said(WatchVerdict::Broken, error.to_string()),
    };
    let selected = present(kernel, problem, stage.info)?;
    let now = match stage.workshop.draft(kernel, selected.which(), problem) {
        Ok(now) => now,
        Err(outcome) => return said(WatchVerdict::Failed, outcome.to_string()),
    };
    let backend = stage.info.key.backend;
    if kept::is_identical(&then.draft, &now, backend, compiler) {
        return said(WatchVerdict::Same, "identical code, not run".into());
    }
    if let Some(reason) = kept::other_arguments(&then.spec, &kernel.spec) {
        return said(WatchVerdict::Changed, reason);
    }
    let mut changes = kept::changes(saved, &then, (kernel, &now), backend).join(", ");
    if selected.config.is_none() && !saved.baseline {
        // A build now launches the baseline, for example because the row is stale. Without this note, it would look as
        // if the kernel itself became slower.
        changes += &format!("; launched now: {}", selected.why);
    }
    Ok(Plan::Measure(Box::new(Pair {
        saved,
        kernel,
        problem,
        then,
        now,
        changes: format!("changed: {changes}"),
    })))
}
