//! Runs one element of a plan on one device. An element is the work of one machine: some problems on one kind of
//! device. The run measures in its own cache, publishes its journal while it measures, and then publishes signed
//! statements about what it proved.
//!
//! An element may run any number of times, even several times at once, and each run may end at any moment. Only results
//! that a run has published to the store are used.

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
use crate::run::observer::observer;
use crate::run::pipeline::{self, RunInputs};
use crate::run::report::RunReport;
use crate::task::ElementTask;
use kiln_lab::regime::Regime;
use kiln_lab::{machine, preflight};
use kiln_project::Project;

/// An element to run, with everything that the run needs.
pub struct Work<'a> {
    /// The plan.
    pub plan: &'a PlanFile,
    /// The number of the element in the plan.
    pub element: u32,
    /// The worker key that signs the published results.
    pub key: PrivateKey,
    /// The store to which results are published.
    pub store: &'a dyn ObjectStore,
    /// The kernels of the plan's packages.
    pub project: &'a Project,
    /// The name of the device on the command line; `None` for the first device of the element's kind.
    pub device: Option<&'a str>,
    /// The parent folder of the element's cache; `None` for the scheduler's scratch folder.
    pub scratch: Option<&'a Path>,
    /// Maximum time between two publications.
    pub publish_every: Duration,
    /// Whether other processes may compute on the GPU.
    pub allow_shared_gpu: bool,
    /// Number of compile threads.
    pub jobs: usize,
    /// The command line, which is stored in the record of the run.
    pub command: &'a str,
    /// The kernels whose plain-Rust references are linked in.
    pub catalogue: &'static [&'static Kernel],
    /// Receives the progress messages.
    pub reporter: &'a dyn Reporter,
}

/// What an attempt at an element did.
#[derive(Debug)]
pub struct Worked {
    /// The report of the run.
    pub report: RunReport,
    /// The tasks that no attempt has decided yet, each as `KERNEL (PROBLEM)`. If there are any, the element is not
    /// finished.
    pub undecided: Vec<String>,
}

/// Runs the element and publishes its results. If earlier attempts have already finished the element according to the
/// store, only publishes their statements again, and returns `None`.
///
/// # Errors
/// If the sources, the version of `tune` or the kind of device differ from those of the plan, if the element needs a
/// proof from another device, if another process computes on the GPU, or if results cannot be published.
pub fn work(work: Work<'_>) -> Result<Option<Worked>, Failure> {
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
            // The cache may be the only copy of the results.
            folder: folder.keep(),
        }));
    }
    cache.close()?;
    let attempts = Attempts::read(work.store, plan, work.element)?;
    Ok(Some(Worked {
        report,
        undecided: attempts.undecided(plan, work.element),
    }))
}

/// Runs the element's tasks and publishes their records at the same time.
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

/// Checks that this version of `tune` created the plan. Results of another version would have different keys, so they
/// could not be combined with the results of other nodes.
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

/// The options with which the element runs.
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
        // Shards of a search differ only in their seeds.
        seed: settings.seed.wrapping_add(u64::from(element.shard)),
        write: false,
        jobs,
        dry_run: false,
        element: element.tasks.iter().map(task).collect(),
        claims: Some(plan.claims),
        bake: false,
    })
}
