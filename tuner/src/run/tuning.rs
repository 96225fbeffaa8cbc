//! Tunes one task (a kernel and a problem): search, play-off, check build, confirmation, and the stored decision.

use std::time::{Duration, Instant};

use kiln::compiler::BuildKind;
use kiln::device::DeviceInfo;
use kiln_cache::record::{Against, SearchDone};
use kiln_cache::{Cache, Outcome};
use kiln_spec::space::{SearchSpace, SpaceError};
use kiln_spec::verification::Sizes;
use kiln_spec::{Backend, Config, Hash, Problem};

use crate::error::Failure;
use crate::run::budget::{Share, Slice};
use crate::run::cases::CaseFinder;
use crate::run::clock::nanoseconds;
use crate::run::context::RunContext;
use crate::run::cost::Cost;
use crate::run::decide::{self, TaskRuling};
use crate::run::evaluate::Evaluator;
use crate::run::report::{TaskReport, TaskState};
use crate::run::searching::{self, SearchFailure};
use crate::task::Task;
use kiln_lab::candidate::outcome::of_worker_error;
use kiln_lab::candidate::{Compiled, Which, Workshop};
use kiln_lab::cases::{self, Case};
use kiln_lab::check::{CheckPlace, Checked, Checker};
use kiln_lab::footprint;
use kiln_lab::machine;
use kiln_lab::reference::{Expectations, Oracle};
use kiln_lab::verify::{FailedCase, Verifier};
use kiln_lab::worker::check_inputs;
use kiln_lab::{Bench, Site, WorkerLab};
use kiln_lab::{FootprintError, NotChecked};
use kiln_measure::wealth::Wealth;
use kiln_measure::{Lab, Opening};

/// Tunes one kernel for one problem and stores the decision. Returns the report and the number of timed launches.
///
/// # Errors
/// If results cannot be stored. Faults of the kernel or the device are in the report.
pub fn tune(
    context: &RunContext<'_>,
    index: usize,
    task: &Task<'_>,
    share: Share<'_>,
) -> Result<(TaskReport, u64), Failure> {
    context.cache.remember_key(&task.key)?;
    let mut report = TaskReport::new(task, TaskState::Searched);
    let space = SearchSpace::build(&task.kernel.spec, task.problem, &context.info.limits);
    let configs = space.as_ref().map_or(0, SearchSpace::len);
    report.sampled = sampled(&space);
    let most = context.options.most_trials(task);
    let trials = most.unwrap_or(usize::MAX).min(configs);
    context
        .reporter
        .task_started(index, &task.name(), trials as u64);
    let mut launches = 0;
    let start = Instant::now();
    let say = |line: &str| context.reporter.notice(&format!("{}: {line}", task.name()));
    let cost = Cost::new(share.budget.end(), &say);
    let aim = (share, &cost);
    match search_and_decide(context, task, space, aim, &mut report, &mut launches) {
        Ok(()) => {}
        Err(SearchFailure::Storage(failure)) => return Err(*failure),
        Err(SearchFailure::OutOfTime) => {
            report.winner = context.cache.winner(task.key.hash())?;
            report.state = TaskState::Unfinished;
            if context.cache.trials(task.key.hash())?.is_empty() {
                report.state = TaskState::NotSearched;
                report.needs = Some(cost.text());
            }
        }
        Err(SearchFailure::Task(reason)) => report.state = TaskState::Failed { reason },
    }
    report.spent.elapsed_ns = nanoseconds(start.elapsed());
    report.space = configs as u64;
    count_trials(context.cache, task, &mut report)?;
    Ok((report, launches))
}

fn search_and_decide(
    context: &RunContext<'_>,
    task: &Task<'_>,
    space: Result<SearchSpace, SpaceError>,
    (share, cost): (Share<'_>, &Cost<'_>),
    report: &mut TaskReport,
    launches: &mut u64,
) -> Result<(), SearchFailure> {
    let (spec, problem) = (&task.kernel.spec, task.problem);
    check_footprint(context.info, task)?;
    check_inputs(context.catalogue, &task.kernel.package, spec)
        .map_err(|error| SearchFailure::Task(error.to_string()))?;
    let space = space.map_err(|error| SearchFailure::Task(error.to_string()))?;
    let bench = bench(context, task);
    let baseline = make_baseline(context, task);
    let baseline = baseline.map_err(|outcome| not_compiled(context, outcome))?;
    cost.baseline_is_compiled();
    let oracle = Oracle::of(
        context.catalogue,
        (task.kernel, problem),
        context.workshop,
        context.device,
        &baseline.arm,
    );
    let oracle = oracle.map_err(|error| match error.outcome {
        Outcome::OutOfTime => SearchFailure::OutOfTime,
        _ => SearchFailure::Task(error.to_string()),
    })?;
    let expected = Expectations::new(oracle, bench.clone(), context.folder);
    let sample = some_configs(&space);
    let sizes = Sizes::new(spec, &sample, problem, Some(&context.info.limits));
    let small = sizes.shared();
    let cases = kiln_lab::cases::cases(&small, problem, context.options.seed);
    let mut verifier = Verifier {
        bench: &bench,
        spec,
        expected: &expected,
        baseline_ns: 0,
    };
    let checker = Checker::new(
        &context.check,
        (task.kernel, problem),
        context.workshop,
        &bench,
        &cases,
    );
    let watched = (&verifier, cost);
    verify_baseline(watched, &checker, &baseline, (problem, &cases))?;
    check_baseline(&checker, &expected, problem, report)?;
    let mut lab = open_lab(&bench, &expected, task, &baseline)?;
    let (trial_cases, final_cases): (Vec<_>, Vec<_>) = cases
        .iter()
        .cloned()
        .partition(|case| small.is_empty() || cases::is_for_trials(spec, &case.problem));
    lab.set_rechecks(final_cases.is_empty());
    verifier.baseline_ns = lab.baseline_ns();
    let cases = CaseFinder::new(sizes, &baseline.arm, context.options.seed)
        .with_shared(trial_cases, final_cases);
    let reference = reference(context, task)?;
    let mut evaluator = Evaluator::new(context, task, verifier, cases, lab, checker, reference);
    let confirm_time = confirm_time(evaluator.lab.baseline_ns(), context.claims.next());
    let slice = share.slice().keep_for_confirming(confirm_time);
    let ruling = search_with(&space, &mut evaluator, &baseline, slice, report)?;
    *launches = evaluator.lab.launches();
    let Some((complete, ruling)) = ruling else {
        report.state = TaskState::NotSearched;
        return Ok(());
    };
    let unchecked = evaluator.unchecked.take().map(|why| why.to_string());
    report.unchecked = report.unchecked.take().or(unchecked);
    report.remark = report.remark.take().or(evaluator.remark.take());
    if let Some(state) = unfinished(context, task, complete && ruling.settled)? {
        report.state = state;
    }
    seal(context, task, space.len(), report, ruling)
}

/// Searches, and then decides between the best config and the baseline. Returns whether the search is complete, and the
/// decision. Returns `None` if no config could be tried in the available time, so no decision is possible.
fn search_with(
    space: &SearchSpace,
    evaluator: &mut Evaluator<'_>,
    baseline: &Compiled,
    slice: Slice,
    report: &mut TaskReport,
) -> Result<Option<(bool, TaskRuling)>, SearchFailure> {
    let (context, task) = (evaluator.context, evaluator.task);
    let trials = context.options.trials.unwrap_or(usize::MAX);
    let trials = trials.min(space.len());
    let complete = searching::search(evaluator, space, slice, trials, report);
    report.spent = evaluator.spent;
    let complete = complete?;
    if !complete && context.cache.trials(task.key.hash())?.is_empty() {
        return Ok(None);
    }
    let deciding = Instant::now();
    let ruling = decide::decide(evaluator, baseline, slice);
    report.spent.confirm_ns = nanoseconds(deciding.elapsed());
    Ok(Some((complete, ruling?)))
}

/// The state of a task that is decided but not complete; `None` if the task is complete.
fn unfinished(
    context: &RunContext<'_>,
    task: &Task<'_>,
    settled: bool,
) -> Result<Option<TaskState>, SearchFailure> {
    let trials = context.cache.trials(task.key.hash())?;
    let open = trials.iter().filter(|trial| !trial.stands()).count() as u64;
    Ok(match (settled, open) {
        (false, _) => Some(TaskState::Unfinished),
        (true, 0) => None,
        (true, configs) => Some(TaskState::Open { configs }),
    })
}

/// Compiles the baseline and, in parallel, its check build, which is needed shortly afterwards.
fn make_baseline(context: &RunContext<'_>, task: &Task<'_>) -> Result<Compiled, Outcome> {
    let make = |workshop: &Workshop<'_>, build| {
        workshop.make(task.kernel, Which::Baseline, task.problem, build)
    };
    let check = || {
        // The check build goes into the artifact cache. If it fails, the checker reports the error.
        let _ = match &context.check {
            CheckPlace::Here => make(context.workshop, BuildKind::Check).map(drop),
            CheckPlace::OnCpu(site) => make(site.workshop, BuildKind::Check).map(drop),
            CheckPlace::Nowhere(_) => Ok(()),
        };
    };
    let release = || make(context.workshop, BuildKind::Release);
    context.pool.install(|| rayon::join(release, check)).0
}

/// Digest of the task's plain-Rust reference; `None` if there is none.
fn reference(context: &RunContext<'_>, task: &Task<'_>) -> Result<Option<Hash>, SearchFailure> {
    let digest = context.reference(task);
    digest.map_err(|error| without_baseline(of_worker_error(&error)))
}

/// The failure of a task whose baseline does not compile.
fn not_compiled(context: &RunContext<'_>, outcome: Outcome) -> SearchFailure {
    if !matches!(outcome, Outcome::CompileTimedOut { .. }) {
        return without_baseline(outcome);
    }
    let others = match context.info.key.backend {
        Backend::Cpu => machine::other_compilers(context.compiler.identity()),
        _ => Vec::new(),
    };
    let mut help = "set KILN_COMPILE_LIMIT_S=300 to give each compile 300 s".to_owned();
    if !others.is_empty() {
        help += &format!(
            ", or set KILN_CXX to another compiler of this machine: {}",
            others.join(", ")
        );
    }
    SearchFailure::Task(format!(
        "the baseline does not work: {outcome}, the limit of a compile\nhelp: {help}"
    ))
}

/// Verifies that the baseline's outputs match the expected outputs.
fn verify_baseline(
    (verifier, cost): (&Verifier<'_>, &Cost<'_>),
    checker: &Result<Checker<'_>, NotChecked>,
    baseline: &Compiled,
    (tuned, cases): (&Problem, &[Case]),
) -> Result<(), SearchFailure> {
    // The tuned problem comes first, because its first launch shows whether the budget is large enough.
    let (tuned_cases, small): (Vec<Case>, Vec<Case>) = cases
        .iter()
        .cloned()
        .partition(|case| case.problem == *tuned);
    let seeds: Vec<u64> = tuned_cases.iter().map(|case| case.seed).collect();
    let ordered = [tuned_cases, small].concat();
    let judge = |ns| cost.judge(ns);
    let proof = verifier.verify_watched(&baseline.arm, &ordered, &judge);
    let few = || verifier.expected.check_few(verifier.spec, tuned, &seeds);
    let proof = proof.and_then(|_| few().map_err(FailedCase::from));
    proof.map_err(|failed| {
        let failed = match checker {
            Ok(checker) => checker.explain(Which::Baseline, verifier.expected, &[], failed),
            Err(_) => failed,
        };
        fails_on(failed, tuned)
    })
}

/// Runs the baseline in the check build. The report gets its remark, or the reason if the check build could not run.
fn check_baseline(
    checker: &Result<Checker<'_>, NotChecked>,
    expected: &Expectations,
    tuned: &Problem,
    report: &mut TaskReport,
) -> Result<(), SearchFailure> {
    let checked = match checker {
        Ok(checker) => checker.check(Which::Baseline, expected, &[]),
        Err(why) => Checked::NotChecked(why.clone()),
    };
    match checked {
        Checked::Passed { remark } => {
            report.remark = remark;
            Ok(())
        }
        Checked::Failed(failed) => Err(fails_on(failed, tuned)),
        Checked::NotChecked(why) => {
            report.unchecked = Some(why.to_string());
            Ok(())
        }
    }
}

/// The failure of a task whose baseline compiles but does not work on one of the verification problems. If this is not
/// the tuned problem, the error names it, because the author may not know that Kiln also verifies other sizes.
fn fails_on(failed: FailedCase, tuned: &Problem) -> SearchFailure {
    let FailedCase { outcome, case } = failed;
    let depends_on_size = match &outcome {
        // These faults do not depend on the problem's sizes, so a constraint on the sizes would not avoid them.
        Outcome::KernelFault { text } => {
            let on_all_sizes = [
                ": race: ",
                "divergent barrier",
                "which no thread",
                "undefined value: ",
                "alignment: ",
            ];
            !on_all_sizes.iter().any(|fault| text.contains(fault))
        }
        outcome => matches!(
            outcome,
            Outcome::Incorrect(_)
                | Outcome::NotANumber { .. }
                | Outcome::Unwritten { .. }
                | Outcome::GuardHit { .. }
                | Outcome::WorkerLost { .. }
        ),
    };
    let failure = without_baseline(outcome);
    let failing = case.filter(|_| depends_on_size).map(|case| case.problem);
    let other = failing.filter(|problem| problem != tuned);
    match (failure, other) {
        (SearchFailure::Task(reason), Some(problem)) => SearchFailure::Task(format!(
            "{reason}\nhelp: it fails on {problem}, one of the sizes on which Kiln verifies every config; if the kernel \
             does not support this size, exclude it by a constraint such as `where(n % TILE == 0)`, or list other sizes \
             with `verify(..)`"
        )),
        (failure, _) => failure,
    }
}

/// The failure of a task whose baseline does not work.
fn without_baseline(outcome: Outcome) -> SearchFailure {
    let (what, help) = match &outcome {
        Outcome::OutOfTime => return SearchFailure::OutOfTime,
        Outcome::NotComparable { text } | Outcome::NotInstalled { text } => return SearchFailure::Task(text.clone()),
        Outcome::DiskFull { text } => return SearchFailure::Storage(Box::new(Failure::DiskFull(text.clone()))),
        Outcome::Incorrect(worst) if worst.against == Against::Baseline => (
            format!(
                "two launches of the baseline differ: {}[{}] is {} in the first and {} in the second",
                worst.output, worst.index, worst.want, worst.got
            ),
            "look for a race, a missing `__syncthreads()` or memory that is read before it is written".to_owned(),
        ),
        Outcome::Unwritten { output, .. } => (
            outcome.to_string(),
            format!(
                "write every element of `{output}`, make its `#[len(..)]` smaller, or declare it as `#[inout]` if it \
                 keeps its content"
            ),
        ),
        _ => (
            outcome.to_string(),
            "configs are compared with the baseline: it must compile, run and be correct first".to_owned(),
        ),
    };
    SearchFailure::Task(format!("the baseline does not work: {what}\nhelp: {help}"))
}

/// Returns at most 64 configs, spread over the search space, for which the verification problems are chosen.
fn some_configs(space: &SearchSpace) -> Vec<Config> {
    const MAX_CONFIGS: usize = 64;
    let step = space.len().div_ceil(MAX_CONFIGS).max(1);
    (0..space.len())
        .step_by(step)
        .map(|index| space.config(index))
        .collect()
}

fn seal(
    context: &RunContext<'_>,
    task: &Task<'_>,
    space_len: usize,
    report: &mut TaskReport,
    ruling: TaskRuling,
) -> Result<(), SearchFailure> {
    context.cache.seal(ruling.winner.clone())?;
    // An undecided task is searched and confirmed again in the next run.
    if report.state == TaskState::Searched {
        let most = context.options.most_trials(task);
        let limit = most.filter(|most| *most < space_len);
        context.cache.mark_search_done(SearchDone {
            kernel: task.kernel.spec.name.clone(),
            problem: task.problem.to_string(),
            key: task.key.hash(),
            trials: context.cache.trials(task.key.hash())?.len() as u64,
            grade: context.grade(task),
            reference: reference(context, task)?,
            limit: limit.map(|limit| limit as u64),
        })?;
    }
    report.winner = Some(ruling.winner);
    Ok(())
}

/// Counts the trials under the task's key by outcome, in this run and earlier runs, and describes the task's search
/// space.
///
/// # Errors
/// If the trials cannot be read.
pub fn count(
    cache: &Cache,
    info: &DeviceInfo,
    task: &Task<'_>,
    report: &mut TaskReport,
) -> Result<(), Failure> {
    let space = SearchSpace::build(&task.kernel.spec, task.problem, &info.limits);
    report.sampled = sampled(&space);
    report.space = space.map_or(0, |space| space.len() as u64);
    count_trials(cache, task, report)
}

/// A description of the size of the whole space, if only a sample of it was enumerated.
fn sampled(space: &Result<SearchSpace, SpaceError>) -> Option<String> {
    let space = space.as_ref().ok()?;
    Some(space.sampled()?.to_string())
}

fn count_trials(cache: &Cache, task: &Task<'_>, report: &mut TaskReport) -> Result<(), Failure> {
    let trials = cache.trials(task.key.hash())?;
    report.trials = trials.len() as u64;
    report.outcomes.clear();
    for trial in &trials {
        report.count(trial);
    }
    Ok(())
}

/// Checks that the data of the problem fits the memory of the device.
fn check_footprint(info: &DeviceInfo, task: &Task<'_>) -> Result<(), SearchFailure> {
    let checked = footprint::check(&task.kernel.spec, task.problem, &info.limits);
    checked.map_err(|error| {
        let help = match &error {
            FootprintError::TooLarge { .. } => {
                "\nhelp: declare a smaller problem, or process it in chunks"
            }
            FootprintError::Plan(_) => "",
        };
        SearchFailure::Task(format!("{error}{help}"))
    })
}

pub(super) fn bench(context: &RunContext<'_>, task: &Task<'_>) -> Bench {
    let site = Site {
        worker: context.worker,
        device: context.device,
        info: context.info,
        regime: context.regime,
        // Verification uses this seed too, so the expected outputs of the timed launches already exist.
        seed: cases::seeds(context.options.seed)[0],
    };
    Bench::new(&site, task.kernel, task.problem)
}

/// Opens the lab and times one sample of the baseline, from which deadlines are derived.
fn open_lab(
    bench: &Bench,
    expected: &Expectations,
    task: &Task<'_>,
    baseline: &Compiled,
) -> Result<WorkerLab, SearchFailure> {
    let path = expected.get(task.problem, bench.seed, baseline.arm.plan);
    let path = path.map_err(|error| without_baseline(of_worker_error(&error)))?;
    let mut lab = WorkerLab::new(bench.clone(), path);
    let arm = lab.add(baseline.arm.clone());
    let baseline_ns = {
        let mut session = lab.open(&Opening {
            load: vec![arm],
            allocate: vec![arm],
        })?;
        let samples = session.run(&[arm])?;
        session.finish()?;
        samples.first().map_or(0, kiln_measure::Sample::launch_ns)
    };
    lab.set_baseline_ns(baseline_ns);
    Ok(lab)
}

/// The time to confirm a large speed-up. Most of this time is spent on launches of the baseline: each process launches
/// the baseline twice for samples and once for warming up. The number of processes is the minimum that a proof needs,
/// plus two.
fn confirm_time(baseline_ns: u64, claims: u32) -> Duration {
    let process = Duration::from_nanos(baseline_ns.saturating_mul(3)) + Duration::from_millis(150);
    process * (Wealth::fewest(claims) + 2)
}
