//! Smoke tests. A smoke test launches a baked row or a baseline on a device, compares its outputs with the expected
//! outputs, and compares the device's receipt with the intended launch.

use std::path::Path;

use kiln::Kernel;
use kiln::compiler::BuildKind;
use kiln_spec::baked::{Freshness, Hashes, Row};
use kiln_spec::codegen::Target;
use kiln_spec::verification::verification_problems;
use kiln_spec::{Backend, Config, Problem};
use serde::Serialize;

use crate::error::Failure;
use crate::tables::local;
use kiln_lab::Bench;
use kiln_lab::candidate::outcome::of_worker_error;
use kiln_lab::candidate::{Compiled, Which, Workshop};
use kiln_lab::check::{CheckPlace, Checked, Checker};
use kiln_lab::device_session::DeviceSession;
use kiln_lab::peaks;
use kiln_lab::reference::{Expectations, Oracle};
use kiln_lab::verify::{self, Verifier};
use kiln_lab::worker::protocol::ProcessLimits;
use kiln_lab::worker::reference_of;
use kiln_project::TunedKernel;

/// Maximum number of operations, and of bytes, of a problem that the smoke test launches. In place of a larger problem,
/// it launches the kernel's small verification problems, if there are any. It still compares the launch plan of the
/// larger problem with the table.
const MAX_WORK: u64 = 200_000_000;

/// The result for one baked row or one baseline.
#[derive(Serialize)]
pub struct Smoked {
    /// The name of the kernel.
    pub kernel: String,
    /// The device and the problem of the row, or `baseline` and its problem.
    pub row: String,
    /// `passed`, `failed` or `not run`.
    pub state: &'static str,
    /// A description of the launch, or the reason why the launch failed or was not attempted.
    pub detail: String,
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
}

impl Smoke<'_> {
    /// Launches the baselines and the rows of a kernel, for the problems in `problems`, or for all problems if
    /// `problems` is empty. The rows are from the committed table and from the table in the folder `local`. `say`
    /// receives each result immediately.
    ///
    /// # Errors
    /// If a table cannot be read, or `say` returns an error.
    pub fn kernel(
        &self,
        kernel: &TunedKernel,
        local: &Path,
        problems: &[String],
        say: &mut dyn FnMut(Smoked) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let spec = &kernel.spec;
        let is_meant = |problem: &str| problems.is_empty() || problems.iter().any(|p| p == problem);
        for problem in &spec.problems {
            let text = problem.to_string();
            if is_meant(&text) {
                let result = self.launch(kernel, Which::Baseline, problem, None);
                say(outcome(kernel, format!("baseline ({text})"), result))?;
            }
        }
        for row in local::rows(&spec.name, &kernel.tuned, local)? {
            if is_meant(&row.problem) {
                let name = format!("{} ({})", row.device, row.problem);
                say(outcome(kernel, name, self.row(kernel, &row)))?;
            }
        }
        Ok(())
    }

    fn row(&self, kernel: &TunedKernel, row: &Row) -> Result<String, Trouble> {
        let now = Hashes::now(&kernel.spec, kernel.source.hash(), row.device.backend);
        if let Freshness::Stale { which, .. } = row.freshness(&now) {
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
    /// included if it is small enough, or if there are no small problems. Returns a description of the launch.
    fn launch(
        &self,
        kernel: &TunedKernel,
        which: Which<'_>,
        problem: &Problem,
        row: Option<&Row>,
    ) -> Result<String, Trouble> {
        if let Some(why) = kernel.spec.left_out_on(self.session.info().key.backend) {
            return Err(Trouble::NotRun(why));
        }
        let failed = |text: &dyn std::fmt::Display| Trouble::Failed(text.to_string());
        let made = self
            .workshop
            .make(kernel, which, problem, BuildKind::Release)
            .map_err(|outcome| failed(&outcome))?;
        self.compare(&made, row)?;
        let spec = &kernel.spec;
        let configs: Vec<Config> = vec![made.arm.config.clone()];
        let small =
            verification_problems(spec, &configs, problem, Some(&self.session.info().limits));
        let work = peaks::work(spec, problem);
        let whole = small.is_empty() || work.flops.max(work.bytes) <= MAX_WORK;
        let mut cases = verify::cases(&small, problem, 1);
        cases.retain(|case| whole || case.problem != *problem);
        let bench = self.bench(kernel, problem);
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
            .then(|| Checker::new(&CheckPlace::Here, tuned, self.workshop, &bench, &cases));
        let proof = verifier.verify(&made.arm, &cases).map_err(|error| {
            let outcome = of_worker_error(&error);
            failed(&match &checker {
                Some(Ok(checker)) => checker.explain(which, &expected, outcome),
                _ => outcome,
            })
        })?;
        let checked = checker.map(|checker| Ok(checker?.check(which, &expected)));
        let orders = match checked {
            None => String::new(),
            Some(Ok(Checked::Passed)) => ", in four orders of threads".to_owned(),
            Some(Ok(Checked::Failed(outcome))) => return Err(failed(&outcome)),
            Some(Ok(Checked::NotChecked(why)) | Err(why)) => {
                format!(", not checked for races: {why}")
            }
        };
        Ok(format!(
            "{} {}, {} launches right, receipts as intended{orders}",
            made.arm.release, made.arm.plan, proof.cases
        ))
    }

    /// Checks that the launch has the launch plan and the symbol of the row in the table.
    fn compare(&self, made: &Compiled, row: Option<&Row>) -> Result<(), Trouble> {
        let Some(row) = row else { return Ok(()) };
        if made.arm.plan != row.plan {
            return Err(Trouble::Failed(format!(
                "the table says {}, the launch would be {}",
                row.plan, made.arm.plan
            )));
        }
        let same_target = Target::from(row.device.backend) == Target::from(self.workshop.backend);
        if same_target && made.arm.release != row.symbol {
            return Err(Trouble::Failed(format!(
                "the table says {}, the launch would be {}",
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

/// Why a row did not pass: its test failed, or it was not run.
enum Trouble {
    Failed(String),
    NotRun(String),
}

fn outcome(kernel: &TunedKernel, row: String, result: Result<String, Trouble>) -> Smoked {
    let (state, detail) = match result {
        Ok(detail) => ("passed", detail),
        Err(Trouble::Failed(detail)) => ("failed", detail),
        Err(Trouble::NotRun(detail)) => ("not run", detail),
    };
    Smoked {
        kernel: kernel.spec.name.clone(),
        row,
        state,
        detail,
    }
}
