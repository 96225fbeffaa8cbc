//! `tune fleet job`: prints a job file that runs the elements of a plan (its units of work) under a scheduler.

use std::path::Path;
use std::process::ExitCode;

use kiln_fleet::{Engine, JobOptions, render};

use super::tables::finished;
use crate::cli::{EngineName, JobArgs};
use crate::commands::output::{checked, print};
use crate::error::Failure;
use crate::fleet::{FleetError, signer};

pub(super) fn run(args: &JobArgs) -> Result<ExitCode, Failure> {
    let plan = signer::read_current(&args.plan.plan)?;
    let count = u32::try_from(plan.plan().elements.len()).unwrap_or(u32::MAX);
    let mut elements: Vec<u32> = (0..count).collect();
    if let Some((first, last)) = args.elements {
        elements.retain(|element| (first..=last).contains(element));
    }
    if let Some(name) = &args.kind {
        let kind = signer::kind(&plan, name)?;
        elements.retain(|element| {
            let element = plan.plan().element(*element);
            element.is_some_and(|element| element.kind == kind)
        });
    }
    if args.missing {
        let store = super::store(&args.plan.store)?;
        let done = finished(&*store, plan.plan())?;
        elements.retain(|element| !done.contains(element));
        if elements.is_empty() {
            eprintln!("tune: the store has every element of the plan; `tune fleet merge` is next");
            return Ok(checked(true));
        }
    }
    let key = args.key.clone();
    let key = key.unwrap_or_else(|| signer::beside(&args.plan.plan, "key"));
    let options = JobOptions {
        plan_path: path(&args.plan.plan),
        store: args.plan.store.clone(),
        key: path(&key),
        tune: args.tune.clone(),
        gres: args.gres.clone(),
        partition: args.partition.clone(),
        minutes: args.minutes,
        at_once: args.at_once,
        image: args.image.clone(),
        resource: args.resource.clone(),
        node_selector: args.node_selector.clone(),
        secret: args.secret.clone(),
        runner: args.runner.clone(),
    };
    let engine = match args.engine {
        EngineName::Slurm => Engine::Slurm,
        EngineName::Kubernetes => Engine::Kubernetes,
        EngineName::Github => Engine::GitHub,
        EngineName::Parallel => Engine::Parallel,
    };
    let text = render(plan.plan(), engine, &elements, &options).map_err(FleetError::from)?;
    print(&text);
    Ok(checked(true))
}

fn path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
