//! Smoke tests. A smoke test launches a baked row or a baseline on a device, compares its outputs with the expected
//! outputs, and compares the device's receipt with the intended launch.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use kiln::Kernel;
use kiln::compiler::BuildKind;
use kiln_cache::Outcome;
use kiln_cache::record::ReferenceGrade;
use kiln_spec::baked::Row;
use kiln_spec::codegen::Target;
use kiln_spec::hash::{Hash, Hasher};
use kiln_spec::verification::{problems_of_config, problems_of_other_types, verification_problems};
use kiln_spec::{Backend, Problem};
use serde::Serialize;

use crate::error::Failure;
use crate::in_order::in_order;
use crate::progress::Waiting;
use kiln_lab::Bench;
use kiln_lab::candidate::{Compiled, Which, Workshop};
use kiln_lab::check::{CheckPlace, Checked, Checker};
use kiln_lab::device_session::DeviceSession;
use kiln_lab::peaks;
use kiln_lab::reference::{Expectations, Oracle};
use kiln_lab::verify::{FailedCase, Verifier};
use kiln_lab::worker::protocol::ProcessLimits;
use kiln_lab::worker::{check_inputs, reference_of};
use kiln_project::{TableFolder, TunedKernel};

/// Maximum number of operations, and of bytes, of a problem that the smoke test launches. Instead of a larger problem,
/// the smoke test launches the kernel's small verification problems, if there are any. The launch plan of the larger
/// problem is nevertheless compared with the table.
const MAX_WORK: u64 = 200_000_000;

/// Maximum data of a row's problem on which the check build runs in addition to small problems, in bytes. With more
/// data, it takes several seconds. `tune run` runs it on problems of up to 8 MiB before it proves a row.
const MAX_CHECKED_BYTES: u64 = 1 << 20;

/// The result for one baked row or one baseline.
#[derive(Serialize)]
pub struct Smoked {
    /// The package that declares the kernel.
    pub package: String,
    /// The name of the kernel.
    pub kernel: String,
    /// The device and the problem of the row, or `baseline` and its problem.
    pub row: String,
    /// `passed`, `failed` or `not run`.
    pub state: &'static str,
    /// A description of the launch, or the reason why the launch failed or was not attempted.
    pub detail: String,
    /// A hash of the outputs of the problems with at most 16 MiB of data, if there are any. Two devices that launch the
    /// same config and compute the same, bit for bit, have equal hashes.
    pub outputs: Option<Hash>,
}

impl Smoked {
    /// The line that `tune smoke` prints.
    pub fn to_text(&self) -> String {
        format!(
            "{:<8} {} {}: {}\n",
            self.state, self.kernel, self.row, self.detail
        )
    }
}

/// A smoke test that is to be run.
pub struct SmokeTest<'a> {
    kernel: &'a TunedKernel,
    /// The name of the row, or of the baseline, in messages.
    name: String,
    what: What,
}

/// What a smoke test launches.
enum What {
    /// The baseline, on a problem.
    Baseline(Problem),
    /// A baked row.
    Row(Box<Row>),
}

/// The smoke tests of a kernel's baselines and rows, for the problems in `problems`, or for all problems if `problems` is
/// empty. The rows are from the committed table and from the table in the folder `local`.
///
/// # Errors
/// If a table cannot be read.
pub fn tests_of<'a>(
    kernel: &'a TunedKernel,
    local: &TableFolder,
    problems: &[String],
) -> Result<Vec<SmokeTest<'a>>, Failure> {
    let spec = &kernel.spec;
    let is_meant = |problem: &str| problems.is_empty() || problems.iter().any(|p| p == problem);
    let mut tests = Vec::new();
    for problem in spec.problems.iter().chain(&problems_of_other_types(spec)) {
        let text = problem.to_string();
        if is_meant(&text) {
            let name = format!("baseline ({text})");
            let what = What::Baseline(problem.clone());
            tests.push(SmokeTest { kernel, name, what });
        }
    }
    for row in kernel.tuned.rows_with(local, &spec.name)? {
        if is_meant(&row.problem) {
            let name = format!("{} ({})", row.device, row.problem);
            let what = What::Row(Box::new(row));
            tests.push(SmokeTest { kernel, name, what });
        }
    }
    Ok(tests)
}

/// What the launches of one row or baseline showed.
struct Launched {
    /// A description of the launch.
    detail: String,
    /// A hash of the outputs of small problems.
    outputs: Option<Hash>,
}

/// A device on which rows are launched, with everything that the launches need.
pub struct Smoke<'a> {
    /// The session on the device.
    pub session: &'a DeviceSession<'a>,
    /// The workshop that compiles the candidates.
    pub workshop: &'a Workshop<'a>,
    /// The kernels whose plain-Rust references are linked in.
    pub catalogue: &'static [&'static Kernel],
    /// The folder for files of expected outputs.
    pub folder: &'a Path,
    /// The time limit of each row.
    pub limit: Duration,
}

impl Smoke<'_> {
    /// Runs smoke tests, several at a time if several processes can use the device. `say` receives each result as soon as
    /// it and all results before it are known.
    ///
    /// # Errors
    /// If `say` returns an error.
    pub fn run_all(
        &self,
        tests: &[SmokeTest<'_>],
        say: &mut dyn FnMut(Smoked) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        in_order(tests, self.at_once(), |test| self.run(test), say)
    }

    /// The number of tests that run at the same time. A GPU may accept only one process.
    fn at_once(&self) -> usize {
        let info = self.session.info();
        match info.key.backend == Backend::Cpu || info.is_simulated {
            true => thread::available_parallelism().map_or(1, usize::from),
            false => 1,
        }
    }

    fn run(&self, test: &SmokeTest<'_>) -> Smoked {
        let SmokeTest { kernel, name, what } = test;
        let _waiting = Waiting::begin(format!("smoke test of {}: {name}", kernel.label));
        let result = match what {
            What::Baseline(problem) => self.launch(kernel, Which::Baseline, problem, None),
            What::Row(row) => self.row(kernel, row),
        };
        outcome(kernel, name.clone(), result)
    }

    fn row(&self, kernel: &TunedKernel, row: &Row) -> Result<Launched, Trouble> {
        if let Some(which) = kernel.stale_part(row) {
            return Err(Trouble::NotRun(format!(
                "stale: its {which} changed; builds do not use it"
            )));
        }
        let resolved = row
            .resolve(&kernel.spec)
            .map_err(|error| Trouble::Failed(error.to_string()))?;
        if let Err(error) = row.plan.check(&self.session.info().limits) {
            return Err(Trouble::NotRun(format!("{error} on this device")));
        }
        let (problem, limits) = (&resolved.problem, Some(&self.session.info().limits));
        let (which, valid) = if resolved.is_baseline {
            let valid = kernel.spec.check_baseline(problem, limits);
            (Which::Baseline, valid)
        } else {
            let config = &resolved.config;
            let valid = kernel.spec.check_config(config, problem, limits);
            (Which::Config(config), valid)
        };
        if let Err(error) = valid {
            return Err(Trouble::NotRun(format!(
                "{error}; no launch on this device uses it"
            )));
        }
        self.launch(kernel, which, problem, Some(row))
    }

    /// Compiles a candidate, and verifies it on small problems with the same element types. The problem itself is
    /// included if it is small enough, or if there are no small problems.
    fn launch(
        &self,
        kernel: &TunedKernel,
        which: Which<'_>,
        problem: &Problem,
        row: Option<&Row>,
    ) -> Result<Launched, Trouble> {
        if let Some(why) = kernel.spec.left_out_on(self.session.info().key.backend) {
            return Err(Trouble::NotRun(why));
        }
        let failed = |text: &dyn std::fmt::Display| Trouble::Failed(text.to_string());
        check_inputs(self.catalogue, &kernel.package, &kernel.spec).map_err(|e| failed(&e))?;
        let made = self
            .workshop
            .make(kernel, which, problem, BuildKind::Release)
            .map_err(|outcome| failed(&outcome))?;
        self.compare(&made, row)?;
        let spec = &kernel.spec;
        let limits = Some(&self.session.info().limits);
        let small = match which {
            Which::Config(config) => problems_of_config(spec, config, problem, limits),
            _ => verification_problems(spec, &[], problem, limits),
        };
        let work = peaks::work(spec, problem);
        let whole = small.is_empty() || work.flops.max(work.bytes) <= MAX_WORK;
        let mut cases = kiln_lab::cases::cases(&small, problem, 1);
        cases.retain(|case| whole || case.problem != *problem);
        let mut bench = self.bench(kernel, problem);
        bench.worker.until = Some(Instant::now() + self.limit);
        let expected = Expectations::new(self.oracle(kernel, problem)?, bench.clone(), self.folder);
        let verifier = Verifier {
            bench: &bench,
            spec,
            expected: &expected,
            baseline_ns: 0,
        };
        let tuned = (kernel, problem);
        // A check build is a program for the cpu device. On a GPU, it would show nothing about the images that the GPU
        // runs.
        let checker = (self.session.info().key.backend == Backend::Cpu)
            .then(|| Checker::new(&CheckPlace::Here, tuned, self.workshop, &bench, &cases))
            .map(|checker| checker.map(|checker| checker.with_most_tuned_bytes(MAX_CHECKED_BYTES)));
        let proof = verifier.verify(&made.arm, &cases).map_err(|found| {
            if found.outcome == Outcome::OutOfTime {
                return self.out_of_time();
            }
            let found = match &checker {
                Some(Ok(checker)) => checker.explain(which, &expected, &[], found),
                _ => found,
            };
            failed_on(&found, problem)
        })?;
        let orders = match &checker {
            None => String::new(),
            Some(Err(why)) => format!(", not checked for races: {why}"),
            Some(Ok(checker)) => match checker.check(which, &expected, &[]) {
                Checked::Failed(found) if found.outcome == Outcome::OutOfTime => {
                    return Err(self.out_of_time());
                }
                checked => checked_orders(checked, checker, problem)?,
            },
        };
        let agree = match expected.grade() {
            ReferenceGrade::BaselineOnly => {
                "launches agree with the baseline (self-consistent, not verified)"
            }
            _ => "launches right",
        };
        Ok(Launched {
            detail: format!(
                "{} {}, {} {agree}, receipts as intended{orders}",
                made.arm.release, made.arm.plan, proof.cases
            ),
            outputs: hash_of(&proof.outputs),
        })
    }

    fn out_of_time(&self) -> Trouble {
        Trouble::Failed(format!(
            "it did not end within {} s, the limit of a smoke test\n\
             help: look for a loop that does not end, or set KILN_SMOKE_DEADLINE_S if the kernel needs longer",
            self.limit.as_secs()
        ))
    }

    /// Checks that the launch has the launch plan and the symbol of the row in the table.
    fn compare(&self, made: &Compiled, row: Option<&Row>) -> Result<(), Trouble> {
        let Some(row) = row else { return Ok(()) };
        if made.arm.plan != row.plan {
            return Err(Trouble::Failed(format!(
                "the table says {}, but the launch would be {}",
                row.plan, made.arm.plan
            )));
        }
        let same_target = Target::from(row.device.backend) == Target::from(self.workshop.backend);
        if same_target && made.arm.release != row.symbol {
            return Err(Trouble::Failed(format!(
                "the table says {}, but the launch would be {}",
                row.symbol, made.arm.release
            )));
        }
        Ok(())
    }

    fn bench(&self, kernel: &TunedKernel, problem: &Problem) -> Bench {
        Bench {
            worker: self.session.worker.clone(),
            device: self.session.name.to_owned(),
            package: kernel.package.clone(),
            spec_json: kernel.spec.to_json(),
            problem: problem.clone(),
            seed: 1,
            sets: 1,
            timer_tick_ns: self.session.info().timer_tick_ns,
            limits: ProcessLimits {
                memory_bytes: 0,
                cpu_seconds: 0,
            },
            device_limits: self.session.info().limits,
        }
    }

    fn oracle(&self, kernel: &TunedKernel, problem: &Problem) -> Result<Oracle, Trouble> {
        if reference_of(self.catalogue, &kernel.package, &kernel.spec).is_some() {
            return Ok(Oracle::Rust);
        }
        let baseline = self
            .workshop
            .make(kernel, Which::Baseline, problem, BuildKind::Release);
        let baseline = baseline.map_err(|outcome| Trouble::Failed(outcome.to_string()))?;
        let (workshop, device) = (&self.workshop, self.session.name);
        let compared = (kernel, problem);
        let oracle = Oracle::of(self.catalogue, compared, workshop, device, &baseline.arm);
        oracle.map_err(|error| Trouble::Failed(error.to_string()))
    }
}

/// Describes the result of the check build of a candidate: the end of the description of its launch.
fn checked_orders(
    checked: Checked,
    checker: &Checker<'_>,
    problem: &Problem,
) -> Result<String, Trouble> {
    match checked {
        Checked::Passed { remark } => {
            let sizes = match checker.checks(problem) {
                true => "",
                false => "smaller sizes ",
            };
            let note = remark.map_or(String::new(), |remark| format!("; note: {remark}"));
            Ok(format!(", {sizes}in four orders of threads{note}"))
        }
        Checked::NotChecked(why) => Ok(format!(", not checked for races: {why}")),
        Checked::Failed(found) => Err(failed_on(&found, problem)),
    }
}

/// Why a row did not pass: its test failed, or it was not run.
enum Trouble {
    Failed(String),
    NotRun(String),
}

/// The failure of a launch. If the launch was on another problem than the row's, the text names the other problem,
/// because the author may not know that Kiln also verifies other sizes.
fn failed_on(found: &FailedCase, problem: &Problem) -> Trouble {
    let mut text = found.outcome.to_string();
    let failing = found.case.as_ref().map(|case| &case.problem);
    if let Some(failing) = failing.filter(|failing| *failing != problem)
        && !found.outcome.names_inputs()
    {
        // The advice comes last.
        let end = text.find('\n').unwrap_or(text.len());
        let size = format!(" (on {failing}, one of the sizes on which Kiln verifies every config)");
        text.insert_str(end, &size);
    }
    Trouble::Failed(text)
}

fn outcome(kernel: &TunedKernel, row: String, result: Result<Launched, Trouble>) -> Smoked {
    let (state, detail, outputs) = match result {
        Ok(Launched { detail, outputs }) => ("passed", detail, outputs),
        Err(Trouble::Failed(detail)) => ("failed", detail, None),
        Err(Trouble::NotRun(detail)) => ("not run", detail, None),
    };
    Smoked {
        package: kernel.package.clone(),
        kernel: kernel.spec.name.clone(),
        row,
        state,
        detail,
        outputs,
    }
}

/// One hash of several.
fn hash_of(hashes: &[Hash]) -> Option<Hash> {
    let mut hasher = Hasher::new("outputs");
    for hash in hashes {
        hasher.field(hash.to_string().as_bytes());
    }
    (!hashes.is_empty()).then(|| hasher.finish())
}
