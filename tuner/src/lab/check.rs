//! The checking build of the cpu device: what it finds in a candidate that outputs alone do not show.
//!
//! The baseline and every finalist run in it, in several orders of their threads, on small problems. Candidates of a
//! GPU are compiled for the cpu for this, if their source compiles there.

use std::path::Path;

use kiln::artifacts::ArtifactCache;
use kiln::compiler::{BuildKind, Compiler};
use kiln::device::DeviceInfo;
use kiln::{Device, Kernel};
use kiln_cache::Outcome;
use kiln_spec::{Backend, Problem};

use crate::candidate::outcome::of_worker_error;
use crate::candidate::{Which, Workshop};
use crate::lab::NotChecked;
use crate::lab::reference::{Expectations, Oracle};
use crate::lab::verify::{Case, Verifier};
use crate::lab::worker::WorkerLimits;
use crate::lab::{Bench, Site};
use crate::project::TunedKernel;
use crate::regime::Regime;

/// What the checking build says of a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checked {
    /// Nothing is wrong.
    Passed,
    /// It is wrong.
    Failed(Outcome),
    /// It could not be checked, and why.
    NotChecked(NotChecked),
}

/// The cpu device, for candidates of another device.
#[derive(Debug)]
pub struct CheckDevice {
    device: Device,
}

impl CheckDevice {
    /// The cpu device of this machine, with its limits raised so that a GPU's launches fit.
    ///
    /// # Errors
    /// When there is none, or no compiler for it.
    pub fn open() -> Result<CheckDevice, NotChecked> {
        let device = kiln::smoke::open(NAME)?;
        device.compiler()?;
        Ok(CheckDevice { device })
    }

    /// What it is.
    pub fn info(&self) -> &DeviceInfo {
        self.device.info()
    }

    /// A workshop for its checking builds.
    ///
    /// # Errors
    /// When it has no compiler.
    pub fn workshop<'a>(
        &'a self,
        artifacts: &'a ArtifactCache,
        folder: &'a Path,
    ) -> Result<Workshop<'a>, NotChecked> {
        let compiler: &dyn Compiler = self.device.compiler()?;
        Ok(Workshop::new(compiler, self.info(), artifacts, folder))
    }
}

/// The signals of an invalid access to memory: SIGBUS and SIGSEGV.
const INVALID_ACCESS: [i32; 2] = [7, 11];

/// The cpu device, as on the command line.
const NAME: &str = "cpu";

/// What checking the candidates of one kernel and problem needs.
pub struct Checker<'a> {
    kernel: &'a TunedKernel,
    problem: &'a Problem,
    workshop: &'a Workshop<'a>,
    bench: Bench,
    cases: Vec<Case>,
    own: Option<Expectations>,
}

/// Where and how candidates are checked.
#[derive(Clone, Copy, Debug)]
pub struct CheckSite<'a> {
    /// Where their checking builds are compiled.
    pub workshop: &'a Workshop<'a>,
    /// The cpu device.
    pub info: &'a DeviceInfo,
    /// How workers are started.
    pub worker: &'a WorkerLimits,
    /// Kernels whose references are linked in.
    pub catalogue: &'static [&'static Kernel],
    /// Where expected outputs are kept.
    pub folder: &'a Path,
}

/// Where the candidates of a device can be checked.
#[derive(Debug)]
pub enum CheckPlace<'a> {
    /// On the device itself: it is the cpu.
    Here,
    /// On the cpu, for another device.
    OnCpu(CheckSite<'a>),
    /// Nowhere, and why.
    Nowhere(NotChecked),
}

impl<'a> Checker<'a> {
    /// A checker of a kernel's candidates for a problem, on the place that the device has for it. `here` compiles for
    /// the device, `bench` opens its workers, `cases` are what candidates are verified on.
    ///
    /// # Errors
    /// Why they cannot be checked: the source does not compile for the cpu, for example.
    pub fn new(
        place: &CheckPlace<'a>,
        (kernel, problem): (&'a TunedKernel, &'a Problem),
        here: &'a Workshop<'a>,
        bench: &Bench,
        cases: &[Case],
    ) -> Result<Checker<'a>, NotChecked> {
        let cases = small(cases, problem);
        let site = match place {
            CheckPlace::Nowhere(why) => return Err(why.clone()),
            CheckPlace::Here => {
                // Outputs are expected there already.
                return Ok(Checker {
                    kernel,
                    problem,
                    workshop: here,
                    bench: bench.clone(),
                    cases,
                    own: None,
                });
            }
            CheckPlace::OnCpu(site) => *site,
        };
        if let Some(why) = kernel.spec.left_out_on(Backend::Cpu) {
            return Err(NotChecked::LeftOut { why });
        }
        if cases.iter().any(|case| case.problem == *problem) {
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
            own: Some(own),
        })
    }

    /// Runs a candidate in its checking build. `expected` are those of the device that is tuned.
    pub fn check(&self, which: Which<'_>, expected: &Expectations) -> Checked {
        let made = self
            .workshop
            .make(self.kernel, which, self.problem, BuildKind::Check);
        let compiled = match made {
            Ok(compiled) => compiled,
            Err(outcome) => return self.judge(outcome),
        };
        let verifier = Verifier {
            bench: &self.bench,
            spec: &self.kernel.spec,
            expected: self.own.as_ref().unwrap_or(expected),
            baseline_ns: 0,
        };
        match verifier.verify(&compiled.arm, &self.cases) {
            Ok(_) => Checked::Passed,
            Err(error) => self.judge(of_worker_error(&error)),
        }
    }

    /// What became of a candidate, by its check build if that tells more: of a crash and of a write outside a buffer it
    /// names argument, index, thread and line.
    pub fn explain(&self, which: Which<'_>, expected: &Expectations, outcome: Outcome) -> Outcome {
        let vague = match &outcome {
            Outcome::GuardHit { .. } => true,
            Outcome::WorkerLost { signal, .. } => {
                signal.is_some_and(|signal| INVALID_ACCESS.contains(&signal))
            }
            _ => false,
        };
        if !vague {
            return outcome;
        }
        match self.check(which, expected) {
            Checked::Failed(told @ Outcome::KernelFault { .. }) => told,
            _ => outcome,
        }
    }

    /// What an outcome says of the candidate. One that the cpu device tunes ran there before, so that whatever fails
    /// now is its own; of another device's, only a wrong result is.
    fn judge(&self, outcome: Outcome) -> Checked {
        let wrong = matches!(
            outcome,
            Outcome::Incorrect(_)
                | Outcome::NotANumber { .. }
                | Outcome::Unwritten { .. }
                | Outcome::KernelFault { .. }
                | Outcome::GuardHit { .. }
                | Outcome::InputChanged { .. }
                | Outcome::WorkerLost {
                    signal: Some(_),
                    ..
                }
        );
        if self.own.is_none() || wrong {
            Checked::Failed(outcome)
        } else {
            Checked::NotChecked(NotChecked::Outcome(outcome))
        }
    }
}

/// The small problems: they reach every ragged class, and the tuned one was verified in the build that is timed. The
/// tuned one if there is no other.
fn small(cases: &[Case], problem: &Problem) -> Vec<Case> {
    let small = cases.iter().filter(|case| case.problem != *problem);
    let small: Vec<Case> = small.cloned().collect();
    if small.is_empty() {
        cases.to_vec()
    } else {
        small
    }
}
