//! The main flow of a run, from top to bottom: list the tasks, tune each task within its share of the budget, bake,
//! report.
//!
//! Each step is a function whose result is the input of the next. [`task::plan`] lists the tasks, [`turns::take_all`]
//! tunes them one after another, and [`bake::bake`] writes proven winners into the tables that the macro reads.

use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Instant;

use kiln::{Kernel, device::DeviceBackend};
use kiln_cache::Cache;
use kiln_cache::record::{RunEnded, RunSettings, printable};
use kiln_spec::Backend;

use crate::error::Failure;
use crate::progress::Reporter;
use crate::run::RunOptions;
use crate::run::budget::Budget;
use crate::run::clock::{RunClock, nanoseconds, unix_s};
use crate::run::context::RunContext;
use crate::run::earlier;
use crate::run::observer::observer;
use crate::run::pulled;
use crate::run::report::{RunReport, RunTotals, TaskReport};
use crate::run::turns::{self, claims_of};
use crate::tables::bake;
use crate::task::{self, Conditions};
use kiln_lab::NotChecked;
use kiln_lab::check::{CheckDevice, CheckPlace, CheckSite};
use kiln_lab::device_session::DeviceSession;
use kiln_lab::machine;
use kiln_lab::regime::Regime;
use kiln_lab::scratch::Scratch;
use kiln_lab::threads;
use kiln_lab::worker::WorkerLimits;
use kiln_measure::claims::Claims;
use kiln_project::Project;

/// The inputs of a run.
pub struct RunInputs<'a> {
    /// The kernels to tune.
    pub project: &'a Project,
    /// The name of the device on the command line.
    pub device_name: &'a str,
    /// The device. It is only queried; this process launches nothing on it.
    pub device: &'a dyn DeviceBackend,
    /// The options from the command line.
    pub options: &'a RunOptions,
    /// The command line, which is stored in the record of the run.
    pub command: &'a str,
    /// The cache that stores the results.
    pub cache: &'a Cache,
    /// The kernels whose plain-Rust references are linked in.
    pub catalogue: &'static [&'static Kernel],
    /// Receives the progress messages.
    pub reporter: &'a dyn Reporter,
}

/// Tunes every kernel of a project on a device within the budget, and bakes the proven configs.
///
/// # Errors
/// If the compiler is missing, an option is not valid for the project, or results cannot be stored. Faults of a single
/// kernel are in the report.
pub fn run(run: &RunInputs<'_>) -> Result<RunReport, Failure> {
    let start = Instant::now();
    let session = DeviceSession::open_for_timing(run.device_name, run.device, run.cache.folder())?;
    let info = session.info();
    let conditions = Conditions::new(info, session.compiler(), run.options.regime);
    tell_left_out(run, info.key.backend);
    let tasks = task::plan(&run.project.kernels, &conditions);
    let tasks = task::only(tasks, &run.options.problems)?;
    let tasks = task::of_element(tasks, &run.options.element)?;
    let recordings = earlier::read(&run.options.transfer_from, &tasks)?;
    let pulled = pulled::take_in(run.cache, &observer(info), run.reporter)?;
    let budget = Budget::start(run.options.budget);
    let number = run.cache.begin_run(
        env!("CARGO_PKG_VERSION"),
        unix_s(),
        run.options.seed,
        Some(settings(run, conditions.regime)),
    )?;
    let clock = RunClock::new(number, start);

    let folder = Scratch::new(run.cache.folder())?;
    let pool = threads::to_compile(run.options.jobs)?;
    let check_device = check_device(info.key.backend);
    let worker = WorkerLimits {
        until: budget.end(),
        ..session.worker.clone()
    };
    let mut workshop = session.workshop(folder.path());
    workshop.limits.until = budget.end();
    let mut check_workshop = match &check_device {
        Some(Ok(device)) => Some(device.workshop(session.artifacts(), folder.path())),
        _ => None,
    };
    if let Some(Ok(workshop)) = &mut check_workshop {
        workshop.limits.until = budget.end();
    }
    let check = match (&check_device, &check_workshop) {
        (Some(Ok(device)), Some(Ok(workshop))) => CheckPlace::OnCpu(CheckSite {
            workshop,
            info: device.info(),
            worker: &worker,
            catalogue: run.catalogue,
            folder: folder.path(),
        }),
        (Some(Err(why)), _) | (_, Some(Err(why))) => CheckPlace::Nowhere(why.clone()),
        _ => CheckPlace::Here,
    };
    let context = RunContext {
        device: run.device_name,
        info,
        compiler: session.compiler(),
        regime: conditions.regime,
        workshop: &workshop,
        cache: run.cache,
        pool: &pool,
        reporter: run.reporter,
        options: run.options,
        recordings: &recordings,
        pulled: &pulled,
        catalogue: run.catalogue,
        worker: &worker,
        check,
        folder: folder.path(),
        clock: &clock,
        claims: Claims::new(run.options.claims.unwrap_or_else(|| claims_of(tasks.len()))),
        references: Mutex::default(),
    };

    run.reporter.run_started(tasks.len(), run.options.budget);
    let (reports, launches) = turns::take_all(&context, &tasks, &budget)?;
    run.reporter.run_finished();
    finish(run, &context, &conditions, number, reports, launches)
}

/// Bakes the proven configs, records the end of the run, and creates the report.
fn finish(
    run: &RunInputs<'_>,
    context: &RunContext<'_>,
    conditions: &Conditions<'_>,
    number: u64,
    reports: Vec<TaskReport>,
    launches: u64,
) -> Result<RunReport, Failure> {
    let tables = match run.options.bake {
        true => bake::bake(
            run.project,
            conditions,
            run.cache,
            run.catalogue,
            run.options.write,
        )?,
        false => Vec::new(),
    };
    run.cache.finish_run(RunEnded {
        run: number,
        unix_s: unix_s(),
        elapsed_ns: Some(context.clock.elapsed_ns()),
        tasks: reports.iter().map(TaskReport::ended).collect(),
    })?;
    let tuned = reports.iter().map(|task| task.kernel.as_str()).collect();
    Ok(RunReport {
        run: number,
        device: context.info.key.to_string(),
        regime: conditions.regime.name(),
        without_table: bake::without_table(run.project, &context.info.key, &tuned, &tables)?,
        notices: bake::notices(&tables, context.info.key.backend, run.options.write),
        tables,
        compiles: context.workshop.compiles.load(Ordering::Relaxed),
        launches,
        strategy_ns: reports.iter().map(|task| task.spent.strategy_ns).sum(),
        totals: RunTotals::of(&reports),
        tasks: reports,
        elapsed_ms: context.clock.elapsed_ns() / 1_000_000,
    })
}

/// Prints a notice for each kernel that its spec excludes on this backend, with the reason.
fn tell_left_out(run: &RunInputs<'_>, backend: Backend) {
    for kernel in &run.project.kernels {
        if let Some(why) = kernel.spec.left_out_on(backend) {
            let line = format!("{} is not tuned here: {why}", kernel.spec.name);
            run.reporter.notice(&line);
        }
    }
}

/// Opens the device that runs the check builds. Returns `None` on the cpu, which runs its own check builds.
fn check_device(backend: Backend) -> Option<Result<CheckDevice, NotChecked>> {
    match backend {
        Backend::Cpu => None,
        Backend::Fake => Some(Err(NotChecked::Fake)),
        Backend::Cuda | Backend::Hip => Some(CheckDevice::open()),
    }
}

/// The settings of the run that are stored in its record.
fn settings(run: &RunInputs<'_>, regime: Regime) -> RunSettings {
    let options = run.options;
    RunSettings {
        command: printable(run.command),
        device: printable(run.device_name),
        machine: printable(&machine::describe()),
        regime: regime.name().to_owned(),
        strategy: options.strategy.clone(),
        budget_ns: options.budget.map(nanoseconds),
        trials: options.trials.map(|trials| trials as u64),
        jobs: options.jobs as u64,
        observer: observer(run.device.info()),
    }
}
