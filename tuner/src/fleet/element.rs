//! One element of a plan, on one device: measures in a cache of its own, publishes while it measures, states what it
//! proved.
//!
//! An element may run any number of times, in several copies at once, and end at any moment: what counts is what the
//! store holds.

use std::path::Path;
use std::time::Duration;

use kiln::Kernel;
use kiln_fleet::{Element, ObjectStore, Plan, PrivateKey, PublishError, Publisher, Stage, sign};

use super::attempts::{self, Attempts};
use super::publishing::Publishing;
use super::rows::check_sources;
use super::signer::PlanFile;
use super::statements::{self, Origin};
use super::{FleetError, kind, scratch};
use crate::error::Failure;
use crate::progress::Reporter;
use crate::run::RunOptions;
use crate::run::pipeline::{self, RunInputs, observer};
use crate::run::report::RunReport;
use crate::task::ElementTask;
use kiln_lab::regime::Regime;
use kiln_lab::{machine, preflight};
use kiln_project::Project;

/// One element, and where it runs.
pub struct Work<'a> {
    /// The plan.
    pub plan: &'a PlanFile,
    /// Number of the element.
    pub element: u32,
    /// Signs what is published.
    pub key: PrivateKey,
    /// Takes the results.
    pub store: &'a dyn ObjectStore,
    /// The kernels.
    pub project: &'a Project,
    /// The device's name; `None` for the first one of the element's kind.
    pub device: Option<&'a str>,
    /// The folder for the cache; `None` for that of the scheduler.
    pub scratch: Option<&'a Path>,
    /// How often results are published at the latest.
    pub publish_every: Duration,
    /// Whether other processes may compute on the GPU.
    pub allow_shared_gpu: bool,
    /// Compile threads.
    pub jobs: usize,
    /// The command line, for the record of the run.
    pub command: &'a str,
    /// Kernels whose references are linked in.
    pub catalogue: &'static [&'static Kernel],
    /// Receives the progress.
    pub reporter: &'a dyn Reporter,
}

/// Runs the element; `None` if the store shows that it was run to its end before.
///
/// # Errors
/// If the sources, the version or the device are not those of the plan, or results cannot be published.
pub fn work(work: Work<'_>) -> Result<Option<RunReport>, Failure> {
    let plan = work.plan.plan();
    let element = element(work.plan, work.element)?;
    check_version(plan)?;
    let kernels = element.tasks.iter().map(|task| task.kernel.as_str());
    check_sources(work.project, plan, kernels)?;
    let kind = &plan.kinds[element.kind];
    let earlier = Attempts::read(work.store, plan, work.element)?;
    if earlier.have_finished(plan, work.element) {
        statements::publish_again(work.store, &work.key, &earlier.observations())?;
        return Ok(None);
    }
    let (device_name, device) = kind::open(work.element, kind, work.device)?;
    let observer = observer(device.info());
    let again = element.stage == Stage::Replicate
        && statements::has_stated(work.store, plan, element, &observer)?;
    if again {
        return Err(Failure::from(FleetError::SameDevice {
            element: work.element,
            device: device_name,
        }));
    }
    preflight::check(&device_name, &*device, work.allow_shared_gpu)?;
    let folder = scratch::make(work.scratch, work.element)?;
    let cache = machine::open_cache_in(folder.path())?;
    attempts::take_up(&cache, &earlier, &observer)?;

    let origin = Origin {
        plan: plan.id(),
        element: work.element,
        attempt: sign::random_name(),
        journal: cache.journal_id().unwrap_or_default(),
        observer,
    };
    attempts::announce(work.store, plan, work.element, origin.journal)?;
    let options = options(plan, element, work.jobs)?;
    let run = RunInputs {
        project: work.project,
        device_name: &device_name,
        device: &*device,
        options: &options,
        command: work.command,
        cache: &cache,
        catalogue: work.catalogue,
        reporter: work.reporter,
    };
    let (report, published) = measure(&run, &work, &origin, folder.path());
    let report = report?;
    let stated = published.map_err(|error| FleetError::from(error).into());
    let stated =
        stated.and_then(|()| statements::publish(work.store, &work.key, &cache, &report, &origin));
    if let Err(error) = stated {
        return Err(Failure::from(FleetError::Unpublished {
            element: work.element,
            why: error.to_string(),
            // What was measured may be all that there is.
            folder: folder.keep(),
        }));
    }
    cache.close()?;
    Ok(Some(report))
}

/// Runs the tasks, and publishes their records meanwhile.
fn measure(
    run: &RunInputs<'_>,
    work: &Work<'_>,
    origin: &Origin,
    scratch: &Path,
) -> (Result<RunReport, Failure>, Result<(), PublishError>) {
    let publisher = Publisher::new(
        work.store,
        work.key.clone(),
        &origin.plan,
        origin.element,
        &origin.attempt,
        origin.observer.clone(),
    );
    std::thread::scope(|scope| {
        let publishing =
            Publishing::start(scope, run.cache, scratch, publisher, work.publish_every);
        let report = pipeline::run(run);
        (report, publishing.finish())
    })
}

fn element(plan: &PlanFile, number: u32) -> Result<&Element, FleetError> {
    let found = plan.plan().element(number);
    found.ok_or_else(|| FleetError::NoElement {
        plan: plan.path.clone(),
        element: number,
        count: plan.plan().elements.len(),
    })
}

/// Results of another version would have other keys, and meet no other node's.
fn check_version(plan: &Plan) -> Result<(), FleetError> {
    let found = env!("CARGO_PKG_VERSION");
    match plan.generator == found {
        true => Ok(()),
        false => Err(FleetError::OtherVersion {
            found: found.to_owned(),
            planned: plan.generator.clone(),
        }),
    }
}

/// The options of the element's run.
fn options(plan: &Plan, element: &Element, jobs: usize) -> Result<RunOptions, FleetError> {
    let settings = &plan.settings;
    let task = |task: &kiln_fleet::TaskRef| ElementTask {
        kernel: task.kernel.clone(),
        problem: task.problem.clone(),
        configs: task.configs.clone(),
    };
    let regime = |name: &String| {
        Regime::named(name).ok_or_else(|| FleetError::Regime {
            found: name.clone(),
        })
    };
    let trials = settings.trials;
    Ok(RunOptions {
        budget: settings.budget_ns.map(Duration::from_nanos),
        trials: trials.map(|trials| usize::try_from(trials).unwrap_or(usize::MAX)),
        problems: Vec::new(),
        strategy: settings.strategy.clone(),
        transfer: true,
        transfer_from: Vec::new(),
        regime: settings.regime.as_ref().map(regime).transpose()?,
        // Shards differ in their seeds alone.
        seed: settings.seed.wrapping_add(u64::from(element.shard)),
        write: false,
        jobs,
        dry_run: false,
        element: element.tasks.iter().map(task).collect(),
        claims: Some(plan.claims),
        bake: false,
    })
}
