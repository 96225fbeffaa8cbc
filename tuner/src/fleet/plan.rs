//! Creates plans from the kernels of a package.

use std::time::Duration;

use kiln_fleet::{
    Distinct, KernelRef, Kind, Plan, PrivateKey, Settings, Stage, TaskDecision, TaskRef, plan,
};

use super::{FleetError, kind};
use crate::error::Failure;
use crate::run::clock::{nanoseconds, unix_s};
use crate::run::turns::claims_of;
use crate::task;
use kiln_project::Project;

/// The options with which a plan is created.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// The kinds of devices, as written on the command line.
    pub kinds: Vec<String>,
    /// The problems to tune; all problems if empty.
    pub problems: Vec<String>,
    /// Number of distinct devices that must prove a row.
    pub replicas: u32,
    /// How devices that prove a row must differ.
    pub distinct: Distinct,
    /// Number of searches per problem, with different seeds.
    pub shards: u32,
    /// Number of problems per element.
    pub per_element: usize,
    /// The search settings of every element.
    pub settings: Settings,
    /// Time until the plan and its worker key expire.
    pub lifetime: Duration,
}

/// Creates a plan that tunes a project's kernels on some kinds of devices. `worker_key` is the public key of the
/// workers.
///
/// # Errors
/// If a kind is not valid, a requested problem is not declared, or no kernel has a problem for a kind.
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

/// The settings with which every element searches.
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

/// The kernels and problems to tune on a kind of device.
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

/// The names of the selected packages, separated by commas.
fn package(project: &Project) -> String {
    let names: Vec<String> = project
        .packages
        .iter()
        .map(|package| package.name.to_string())
        .collect();
    names.join(",")
}

/// Creates a new plan for the work that `plan` leaves open, and a private key for the new plan's workers. This work
/// consists of finals, which race the winners of several searches, and of confirmations on further devices. The new
/// plan has the same number of claims as `plan`, so the error bound holds over all stages together.
///
/// # Errors
/// If no work remains, or no key can be generated.
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
