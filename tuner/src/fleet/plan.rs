//! Makes a plan from the kernels of a package.

use std::time::Duration;

use kiln_fleet::{
    Distinct, KernelRef, Kind, Plan, PrivateKey, Settings, Stage, TaskDecision, TaskRef, plan,
};

use super::{FleetError, kind};
use crate::error::Failure;
use crate::run::clock::{nanoseconds, unix_s};
use crate::run::pipeline::claims_of;
use crate::task;
use kiln_project::Project;

/// What a plan shall be.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// The kinds of devices, as written.
    pub kinds: Vec<String>,
    /// Only these problems; all of them if empty.
    pub problems: Vec<String>,
    /// Number of devices that must prove a row.
    pub replicas: u32,
    /// What makes two devices different.
    pub distinct: Distinct,
    /// Number of searches of each problem.
    pub shards: u32,
    /// Problems in an element.
    pub per_element: usize,
    /// How every element searches.
    pub settings: Settings,
    /// How long the plan is valid.
    pub lifetime: Duration,
}

/// Makes the plan of a project's kernels on some kinds of devices.
///
/// # Errors
/// If a kind is not one, a problem is not declared, or a kind has no problem.
pub fn make(project: &Project, options: &PlanOptions, worker_key: String) -> Result<Plan, Failure> {
    task::check_declared(&project.problems(), &options.problems)?;
    let kinds: Vec<Kind> = options
        .kinds
        .iter()
        .map(|word| kind::parse(word))
        .collect::<Result<_, _>>()?;
    let mut elements = Vec::new();
    for (number, kind) in kinds.iter().enumerate() {
        let tasks = tasks(project, kind, &options.problems)?;
        let packed = plan::pack(
            Stage::Search,
            1,
            &tasks,
            options.shards,
            options.per_element,
        );
        elements.extend(packed.into_iter().map(|element| kiln_fleet::Element {
            kind: number,
            ..element
        }));
    }
    let tasks: usize = elements.iter().map(|element| element.tasks.len()).sum();
    let created = unix_s();
    Ok(Plan {
        schema: plan::PLAN_SCHEMA,
        package: package(project),
        generator: env!("CARGO_PKG_VERSION").to_owned(),
        created_unix_s: created,
        expires_unix_s: created.saturating_add(options.lifetime.as_secs()),
        replicas: options.replicas,
        distinct: options.distinct,
        claims: claims_of(tasks),
        shards: options.shards,
        settings: options.settings.clone(),
        kinds,
        kernels: project.kernels.iter().map(kernel).collect(),
        elements,
        worker_keys: vec![worker_key],
        previous: None,
    })
}

/// The settings of an element's searches.
pub fn settings(
    trials: Option<usize>,
    budget: Option<Duration>,
    strategy: &str,
    regime: Option<String>,
    seed: u64,
) -> Settings {
    Settings {
        trials: trials.map(|trials| trials as u64),
        budget_ns: budget.map(nanoseconds),
        strategy: strategy.to_owned(),
        regime,
        seed,
    }
}

fn kernel(kernel: &kiln_project::TunedKernel) -> KernelRef {
    KernelRef {
        name: kernel.spec.name.clone(),
        spec: kernel.spec.hash().to_string(),
        source: kernel.source.hash().to_string(),
    }
}

/// The kernels and problems of a kind of devices.
fn tasks(project: &Project, kind: &Kind, problems: &[String]) -> Result<Vec<TaskRef>, FleetError> {
    let backend = kind::backend(&kind.device).map_err(|why| FleetError::Kind {
        kind: kind.name.clone(),
        why,
    })?;
    let mut tasks = Vec::new();
    for kernel in &project.kernels {
        let texts = kernel.spec.problems_on(backend).map(ToString::to_string);
        let wanted = texts.filter(|text| problems.is_empty() || problems.contains(text));
        tasks.extend(wanted.map(|problem| TaskRef {
            kernel: kernel.spec.name.clone(),
            problem,
            configs: Vec::new(),
        }));
    }
    match tasks.is_empty() {
        true => Err(FleetError::NoProblem {
            kind: kind.name.clone(),
        }),
        false => Ok(tasks),
    }
}

/// The selected package; several are named together.
fn package(project: &Project) -> String {
    let names: Vec<String> = project
        .packages
        .iter()
        .map(|package| package.name.to_string())
        .collect();
    names.join(",")
}

/// The plan of what is left of another one, and the new key of its workers: finals between several finalists, and
/// confirmations by further devices. Its claims are those of the whole, so that no stage weakens the bound.
///
/// # Errors
/// If nothing is left, or no key can be made.
pub fn continuing(
    plan: &Plan,
    decisions: &[TaskDecision],
) -> Result<(Plan, PrivateKey), FleetError> {
    let of_stage = |stage| kiln_fleet::next(plan, decisions, stage, 1);
    let elements: Vec<_> = [Stage::Final, Stage::Replicate]
        .into_iter()
        .flat_map(of_stage)
        .collect();
    if elements.is_empty() {
        return Err(FleetError::NothingLeft);
    }
    let worker = PrivateKey::generate()?;
    let created = unix_s();
    let lifetime = plan.expires_unix_s.saturating_sub(plan.created_unix_s);
    let next = Plan {
        created_unix_s: created,
        expires_unix_s: created.saturating_add(lifetime),
        elements,
        worker_keys: vec![worker.public().to_openssh()?],
        previous: Some(plan.id()),
        ..plan.clone()
    };
    Ok((next, worker))
}
