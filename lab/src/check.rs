//! Runs candidates in check builds. A check build is code for the cpu device that also reports races, divergent
//! barriers and accesses out of bounds. Such faults do not always change the outputs, so a comparison of outputs can
//! miss them.
//!
//! The check builds of the baseline and of every finalist run on small problems, in several orders of their threads.
//! Candidates for a GPU are compiled for the cpu for this purpose, if their source compiles there.

use std::path::Path;

use kiln::artifacts::ArtifactCache;
use kiln::compiler::{BuildKind, Compiler};
use kiln::device::DeviceInfo;
use kiln::{Device, Kernel};
use kiln_cache::Outcome;
use kiln_spec::{Backend, Problem};

use crate::NotChecked;
use crate::candidate::{Compiled, Which, Workshop};
use crate::cases::Case;
use crate::peaks;
use crate::reference::{Expectations, Oracle};
use crate::regime::Regime;
use crate::verify::{FailedCase, Verifier};
use crate::worker::WorkerLimits;
use crate::{Bench, Site};
use kiln_project::TunedKernel;

/// The result of checking a candidate.
#[derive(Clone, Debug)]
pub enum Checked {
    /// The check build found no fault.
    Passed {
        /// What is right on the cpu device, but not on every GPU.
        remark: Option<String>,
    },
    /// The candidate is faulty.
    Failed(FailedCase),
    /// The candidate could not be checked, for this reason.
    NotChecked(NotChecked),
}

/// The cpu device, on which the candidates of another device are checked.
#[derive(Debug)]
pub struct CheckDevice {
    device: Device,
}

impl CheckDevice {
    /// Opens the cpu device of this machine. Its limits are raised so that the launches of a GPU fit.
    ///
    /// # Errors
    /// If the cpu device does not open, or has no compiler.
    pub fn open() -> Result<CheckDevice, NotChecked> {
        let device = kiln::smoke::open(NAME)?;
        device.compiler()?;
        Ok(CheckDevice { device })
    }

    /// The description of the device.
    pub fn info(&self) -> &DeviceInfo {
        self.device.info()
    }

    /// Creates a workshop that compiles the check builds.
    ///
    /// # Errors
    /// If the cpu device has no compiler.
    pub fn workshop<'a>(
        &'a self,
        artifacts: &'a ArtifactCache,
        folder: &'a Path,
    ) -> Result<Workshop<'a>, NotChecked> {
        let compiler: &dyn Compiler = self.device.compiler()?;
        Ok(Workshop::new(compiler, self.info(), artifacts, folder))
    }
}

/// The signals of a crash: SIGILL, SIGABRT, SIGBUS, SIGFPE and SIGSEGV.
const CRASHES: [i32; 5] = [4, 6, 7, 8, 11];

/// Maximum data of a tuned problem on which the check build explains a failure, in bytes.
const MAX_EXPLAINED_BYTES: u64 = 1 << 20;

/// Maximum data in bytes, and maximum number of operations, of a tuned problem on which the check build runs in addition
/// to the small ones.
const MAX_CHECKED_BYTES: u64 = 8 << 20;
const MAX_CHECKED_WORK: u64 = 20_000_000;

/// The name of the cpu device on the command line.
const NAME: &str = "cpu";

/// Orders the cases of a worker, whose sizes descend, so that those with the second seed ascend. A launch can depend on
/// what a smaller one left in a variable, or on what a larger one left.
fn in_both_directions(cases: Vec<Case>) -> Vec<Case> {
    let (first, mut second): (Vec<Case>, Vec<Case>) =
        cases.into_iter().partition(|case| case.receipt);
    second.reverse();
    [first, second].concat()
}

/// Checks the candidates of one kernel and problem.
pub struct Checker<'a> {
    kernel: &'a TunedKernel,
    problem: &'a Problem,
    workshop: &'a Workshop<'a>,
    bench: Bench,
    /// The cases on small problems; empty if there are none.
    cases: Vec<Case>,
    /// The cases on the tuned problem.
    tuned: Vec<Case>,
    /// Maximum data of a tuned problem on which the check build runs in addition to the small ones, in bytes.
    most_tuned_bytes: u64,
    own: Option<Expectations>,
}

/// Where and how candidates are checked on the cpu.
#[derive(Clone, Copy, Debug)]
pub struct CheckSite<'a> {
    /// The workshop that compiles the check builds.
    pub workshop: &'a Workshop<'a>,
    /// The description of the cpu device.
    pub info: &'a DeviceInfo,
    /// The program and the limits of worker processes.
    pub worker: &'a WorkerLimits,
    /// The kernels whose plain-Rust references are linked in.
    pub catalogue: &'static [&'static Kernel],
    /// The folder for files of expected outputs.
    pub folder: &'a Path,
}

/// Where the candidates of a device are checked.
#[derive(Debug)]
pub enum CheckPlace<'a> {
    /// On the device itself, because it is the cpu.
    Here,
    /// On the cpu, for candidates of another device.
    OnCpu(CheckSite<'a>),
    /// Nowhere, for this reason.
    Nowhere(NotChecked),
}

impl<'a> Checker<'a> {
    /// Creates a checker for the candidates of a kernel and problem. `place` is where the device's candidates are
    /// checked, `here` compiles for the device, `bench` has the settings of the device's workers, and `cases` are the
    /// cases on which candidates are verified.
    ///
    /// # Errors
    /// The reason why the candidates cannot be checked, for example because the source does not compile for the cpu.
    pub fn new(
        place: &CheckPlace<'a>,
        (kernel, problem): (&'a TunedKernel, &'a Problem),
        here: &'a Workshop<'a>,
        bench: &Bench,
        cases: &[Case],
    ) -> Result<Checker<'a>, NotChecked> {
        let (cases, tuned): (Vec<Case>, Vec<Case>) = cases
            .iter()
            .cloned()
            .partition(|case| case.problem != *problem);
        let site = match place {
            CheckPlace::Nowhere(why) => return Err(why.clone()),
            CheckPlace::Here => {
                // The tuned device is the cpu itself, so its expected outputs are used.
                return Ok(Checker {
                    kernel,
                    problem,
                    workshop: here,
                    bench: bench.clone(),
                    cases,
                    tuned,
                    most_tuned_bytes: MAX_CHECKED_BYTES,
                    own: None,
                });
            }
            CheckPlace::OnCpu(site) => *site,
        };
        if let Some(why) = kernel.spec.left_out_on(Backend::Cpu) {
            return Err(NotChecked::LeftOut { why });
        }
        if cases.is_empty() {
            return Err(NotChecked::NoSmallProblem);
        }
        let baseline = site
            .workshop
            .make(kernel, Which::Baseline, problem, BuildKind::Check)
            .map_err(NotChecked::Outcome)?;
        let on_cpu = Site {
            worker: site.worker,
            device: NAME,
            info: site.info,
            regime: Regime::Hot,
            seed: bench.seed,
        };
        let bench = Bench::new(&on_cpu, kernel, problem);
        let oracle = Oracle::of(
            site.catalogue,
            (kernel, problem),
            site.workshop,
            NAME,
            &baseline.arm,
        )?;
        let own = Expectations::new(oracle, bench.clone(), site.folder);
        Ok(Checker {
            kernel,
            problem,
            workshop: site.workshop,
            bench,
            cases,
            tuned,
            most_tuned_bytes: MAX_CHECKED_BYTES,
            own: Some(own),
        })
    }

    /// Limits the data of the tuned problem, in bytes. If the problem has more, the check build runs on it only if
    /// there are no small problems.
    #[must_use]
    pub fn with_most_tuned_bytes(self, bytes: u64) -> Self {
        Checker {
            most_tuned_bytes: bytes,
            ..self
        }
    }

    /// Whether the check build runs this problem, not only smaller ones.
    pub fn checks(&self, problem: &Problem) -> bool {
        let tuned = self.cases.is_empty() && problem == self.problem;
        tuned || self.cases.iter().any(|case| case.problem == *problem)
    }

    /// Runs the check build of a candidate. `more` are cases that only this candidate is verified on. `expected`
    /// contains the expected outputs of the tuned device, which are used only if that device is the cpu.
    ///
    /// The small problems cover every ragged class (sizes below, at and just above a tile, for example). If the tuned
    /// problem is not large, the check build runs on it too. If the candidate can launch no small problem, the check build
    /// runs on the tuned one, but only for the cpu, because a GPU's problem would take too long.
    pub fn check(&self, which: Which<'_>, expected: &Expectations, more: &[Case]) -> Checked {
        let compiled = match self.build(which) {
            Ok(compiled) => compiled,
            Err(outcome) => {
                let failed = FailedCase {
                    outcome,
                    case: None,
                };
                return self.judge(failed, false);
            }
        };
        let verifier = self.verifier(expected);
        let small = self.cases.iter().chain(more);
        let small = small
            .filter(|case| case.problem != *self.problem && verifier.applies(&compiled.arm, case));
        let small = in_both_directions(small.cloned().collect());
        let on_tuned = small.is_empty();
        if on_tuned && self.own.is_some() {
            return Checked::NotChecked(NotChecked::NoSmallForConfig);
        }
        let cases = if on_tuned { &self.tuned } else { &small };
        let passed = match verifier.verify(&compiled.arm, cases) {
            Ok(proof) => Checked::Passed {
                remark: proof.remark,
            },
            Err(failed) => return self.judge(failed, on_tuned),
        };
        if on_tuned || !self.is_tuned_checked() {
            return passed;
        }
        // A config may take another path on large problems.
        let verified = verifier.verify(&compiled.arm, &self.tuned[..1]);
        match verified.map_err(|failed| self.judge(failed, true)) {
            Err(failed @ Checked::Failed(_)) => failed,
            _ => passed,
        }
    }

    /// Whether the check build of the baseline passes all these cases. The expected outputs of a case come from a release
    /// build of the baseline, so it is launched only if the check build stays inside its buffers.
    pub fn baseline_passes(&self, expected: &Expectations, cases: &[Case]) -> bool {
        let passes = |compiled: Compiled| {
            self.stays_inside(&compiled, expected, cases)
                && self.verifier(expected).verify(&compiled.arm, cases).is_ok()
        };
        self.build(Which::Baseline).is_ok_and(passes)
    }

    /// Whether the check build of the baseline reports no fault in these cases. Its outputs are compared with nothing.
    fn stays_inside(&self, baseline: &Compiled, expected: &Expectations, cases: &[Case]) -> bool {
        let expected = self.own.as_ref().unwrap_or(expected);
        let Ok(launched) = expected.of_check_build(baseline.arm.clone()) else {
            return false;
        };
        cases.iter().all(|case| {
            let plan = self.kernel.spec.baseline_plan(&case.problem, None);
            plan.is_ok_and(|plan| launched.get(&case.problem, case.seed, plan).is_ok())
        })
    }

    /// Whether the tuned problem is small enough for the check build.
    fn is_tuned_checked(&self) -> bool {
        let spec = &self.kernel.spec;
        let bytes = spec.footprint_bytes(self.problem);
        let work = peaks::work(spec, self.problem);
        let is_small = bytes.is_ok_and(|bytes| bytes <= self.most_tuned_bytes);
        is_small && work.flops.max(work.bytes) <= MAX_CHECKED_WORK && !self.tuned.is_empty()
    }

    /// The cases on small problems, or those on the tuned problem if there are no small ones.
    fn shared(&self) -> &[Case] {
        if self.cases.is_empty() {
            &self.tuned
        } else {
            &self.cases
        }
    }

    fn build(&self, which: Which<'_>) -> Result<Compiled, Outcome> {
        let (kernel, problem) = (self.kernel, self.problem);
        self.workshop.make(kernel, which, problem, BuildKind::Check)
    }

    fn verifier<'v>(&'v self, expected: &'v Expectations) -> Verifier<'v> {
        Verifier {
            bench: &self.bench,
            spec: &self.kernel.spec,
            expected: self.own.as_ref().unwrap_or(expected),
            baseline_ns: 0,
        }
    }

    /// Replaces the failure of a candidate with a more precise one, if there is one: runs the check build, which can report
    /// the argument, index, thread and line. If the check build reports a fault of the kernel, returns that failure;
    /// otherwise returns `failed`. `more` are cases that only this candidate is verified on.
    pub fn explain(
        &self,
        which: Which<'_>,
        expected: &Expectations,
        more: &[Case],
        failed: FailedCase,
    ) -> FailedCase {
        if !self.may_be_a_fault(which, &failed.outcome) {
            return failed;
        }
        let found = match self.check(which, expected, more) {
            Checked::Failed(told) => a_fault(told),
            _ => None,
        };
        found
            .or_else(|| self.fault_alone(which, expected))
            .or_else(|| self.fault_on_tuned(which, expected))
            .unwrap_or(failed)
    }

    /// Whether a fault of the kernel may have caused an outcome that does not say so.
    pub fn may_be_a_fault(&self, which: Which<'_>, outcome: &Outcome) -> bool {
        let baseline = matches!(which, Which::Baseline);
        match outcome {
            Outcome::GuardHit { .. } => true,
            Outcome::WorkerLost { signal, .. } => {
                signal.is_some_and(|signal| CRASHES.contains(&signal))
            }
            // The cause is often a race. If the candidates are made for another device, only the baseline is worth a
            // check build.
            Outcome::Incorrect(_)
            | Outcome::NotANumber { .. }
            | Outcome::Unwritten { .. }
            | Outcome::ReadsOutput { .. }
            | Outcome::InputChanged { .. } => baseline || self.own.is_none(),
            // The outputs with which others are compared.
            Outcome::NotComparable { .. } => baseline,
            _ => false,
        }
    }

    /// Returns the fault that the check build reports on the tuned problem, if that is small and the device is the cpu.
    fn fault_on_tuned(&self, which: Which<'_>, expected: &Expectations) -> Option<FailedCase> {
        let bytes = self.kernel.spec.footprint_bytes(self.problem).ok()?;
        if self.own.is_some() || self.cases.is_empty() || bytes > MAX_EXPLAINED_BYTES {
            return None;
        }
        let compiled = self.build(which).ok()?;
        let verified = self.verifier(expected).verify(&compiled.arm, &self.tuned);
        a_fault(verified.err()?)
    }

    /// Returns the fault that the check build of the baseline reports if its outputs are not compared with expected
    /// outputs. This is needed if the baseline itself must provide the expected outputs, because a faulty baseline may
    /// provide none.
    fn fault_alone(&self, which: Which<'_>, expected: &Expectations) -> Option<FailedCase> {
        let Which::Baseline = which else { return None };
        let compiled = self.build(which).ok()?;
        let expected = self.own.as_ref().unwrap_or(expected);
        let launched = expected.of_check_build(compiled.arm).ok()?;
        self.shared().iter().find_map(|case| {
            let plan = self.kernel.spec.baseline_plan(&case.problem, None).ok()?;
            let error = launched.get(&case.problem, case.seed, plan).err()?;
            a_fault(FailedCase {
                case: Some(case.clone()),
                ..error.into()
            })
        })
    }

    /// Decides whether a failure of the check build is the candidate's fault. If the tuned device is the cpu, the
    /// candidate was made for the cpu, so any failure is the candidate's fault. If the tuned device is another one, the
    /// cpu may be the cause, so only a wrong result, a fault in the kernel or a crash is the candidate's fault. A check
    /// build of the tuned problem may be slow, so running out of time there (`on_tuned`) is not a fault.
    fn judge(&self, failed: FailedCase, on_tuned: bool) -> Checked {
        let outcome = &failed.outcome;
        if *outcome == Outcome::OutOfTime {
            return Checked::Failed(failed);
        }
        let slow = on_tuned && matches!(outcome, Outcome::TimedOut { .. });
        let wrong = matches!(
            outcome,
            Outcome::Incorrect(_)
                | Outcome::NotANumber { .. }
                | Outcome::Unwritten { .. }
                | Outcome::ReadsOutput { .. }
                | Outcome::KernelFault { .. }
                | Outcome::GuardHit { .. }
                | Outcome::InputChanged { .. }
                | Outcome::WorkerLost {
                    signal: Some(_),
                    ..
                }
        );
        if (self.own.is_none() && !slow) || wrong {
            Checked::Failed(failed)
        } else {
            Checked::NotChecked(NotChecked::Outcome(failed.outcome))
        }
    }
}

/// A failure, if it is a fault of the kernel.
fn a_fault(failed: FailedCase) -> Option<FailedCase> {
    matches!(failed.outcome, Outcome::KernelFault { .. }).then_some(failed)
}
