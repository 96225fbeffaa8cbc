//! `tune fleet plan`: writes and signs a plan, and stores it for the machines that work on it.

use std::process::ExitCode;
use std::time::Duration;

use kiln_fleet::{Distinct, PrivateKey};

use crate::cli::options::{self, DEFAULT_BUDGET, DEFAULT_TRIALS};
use crate::cli::{DistinctBy, PlanArgs};
use crate::commands::output::{checked, print, read_project};
use crate::error::{Failure, UsageError};
use crate::fleet::{self, FleetError, PlanOptions, signer};

pub(super) fn run(args: &PlanArgs) -> Result<ExitCode, Failure> {
    let options = plan_options(args)?;
    signer::check_new(&args.out)?;
    let key = signer::signing_key(args.sign.as_deref())?;
    let project = read_project(&args.package)?;
    let worker = PrivateKey::generate().map_err(FleetError::from)?;
    let public = worker.public().to_openssh().map_err(FleetError::from)?;
    let plan = fleet::make(&project, &options, public)?;
    let store = super::created_store(&args.store)?;
    let signed = signer::write(&args.out, plan, &key)?;
    let worker_key = signer::write_worker_key(&args.out, &worker)?;
    kiln_fleet::collect::put_plan(&*store, signed.plan(), &signed.signed.signature)
        .map_err(FleetError::from)?;
    let plan = signed.plan();
    let tasks: usize = plan
        .elements
        .iter()
        .map(|element| element.tasks.len())
        .sum();
    print(&format!(
        "plan {} in {}: {tasks} kernel problems in {} elements, each row to be proven on {} devices\n\
         worker key {}: whoever has it can publish results of this plan until it expires\n\
         next: tune fleet job {} --store {} --engine slurm\n",
        &plan.id()[..12],
        args.out.display(),
        plan.elements.len(),
        plan.replicas,
        worker_key.display(),
        args.out.display(),
        args.store,
    ));
    Ok(checked(true))
}

fn plan_options(args: &PlanArgs) -> Result<PlanOptions, UsageError> {
    let budget = args.budget.as_deref().map(options::budget).transpose()?;
    let trials = args
        .search
        .trials
        .as_deref()
        .map(options::parse_trials)
        .transpose()?;
    let regime = args.regime.regime.map(|regime| regime.name().to_owned());
    Ok(PlanOptions {
        kinds: args.kinds.clone(),
        problems: options::problems(&args.search.problems),
        replicas: args.replicas,
        distinct: match args.distinct {
            DistinctBy::Device => Distinct::Device,
            DistinctBy::Key => Distinct::Key,
        },
        shards: args.shards,
        per_element: usize::try_from(args.per_element).unwrap_or(usize::MAX),
        settings: fleet::settings(
            trials.unwrap_or(Some(DEFAULT_TRIALS)),
            budget.unwrap_or(Some(DEFAULT_BUDGET)),
            &options::strategy_name(&args.search.strategy)?,
            regime,
            args.search.seed,
        ),
        lifetime: lifetime(&args.expires)?,
    })
}

/// Parses a lifetime such as `90m`, `12h` or `7d`, from a minute to 366 days.
fn lifetime(text: &str) -> Result<Duration, UsageError> {
    let wrong = || UsageError {
        flag: "--expires",
        value: text.to_owned(),
        reason: "not a time from a minute to a year".into(),
        help: "write a number and a unit, such as `12h` or `7d`",
    };
    let unit = match text.chars().last() {
        Some('m') => 60,
        Some('h') => 3600,
        Some('d') => 86_400,
        _ => return Err(wrong()),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    let seconds = number.checked_mul(unit);
    let seconds = seconds.filter(|seconds| (60..=366 * 86_400).contains(seconds));
    seconds.map(Duration::from_secs).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lifetime_has_a_unit_and_bounds() {
        assert_eq!(lifetime("7d"), Ok(Duration::from_secs(604_800)));
        assert_eq!(lifetime("90m"), Ok(Duration::from_secs(5_400)));
        for bad in [
            "",
            "7",
            "d",
            "0h",
            "-1d",
            "400d",
            "1s",
            "1.5h",
            "99999999999999999999d",
            "7é",
        ] {
            assert!(lifetime(bad).is_err(), "{bad}");
        }
    }
}
