//! Provides expected outputs. A worker computes the outputs once for each problem and seed of a run, and stores them in
//! a file that the workers of all candidates read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use kiln::Kernel;
use kiln::compiler::BuildKind;
use kiln::rig::Expected;
use kiln::unusual;
use kiln_cache::Outcome;
use kiln_cache::record::ReferenceGrade;
use kiln_spec::{Hash, KernelSpec, LaunchPlan, Problem, Reference};
use rayon::prelude::*;

use crate::Bench;
use crate::OracleError;
use crate::candidate::outcome::internal;
use crate::candidate::{Which, Workshop};
use crate::cases::Case;
use crate::peaks;
use crate::worker::{ArmJob, OPENING, OnLaunch, Reply, Request, Worker, WorkerError, reference_of};
use kiln_project::TunedKernel;

/// Maximum data of all cases whose expected outputs are made at the same time, in bytes.
const MAX_BYTES_AT_ONCE: u64 = 4 << 30;

/// Time limit of a plain-Rust reference for one problem.
const DEADLINE: Duration = Duration::from_secs(300);
/// The same with unusual inputs, which may make a kernel much slower. They are tried on cheap problems alone.
const UNUSUAL_DEADLINE: Duration = Duration::from_secs(10);

/// Maximum number of operations, and of bytes, of a launch for which a plain-Rust reference is used. The limit exists
/// because the reference runs on one core.
const MAX_REFERENCE_WORK: u64 = 20_000_000_000;

/// The oracle of a kernel and problem: the origin of the expected outputs.
#[derive(Clone, Debug)]
pub enum Oracle {
    /// The kernel's plain-Rust reference, linked into this program.
    Rust,
    /// The plain-Rust reference for small problems, and the baseline for the tuned problem, which is too large for the
    /// reference.
    RustInSmall {
        /// The kernel. For a problem that is too large for the reference, the baseline is launched.
        spec: Box<KernelSpec>,
        /// The name of the device on which the entry runs.
        device: String,
        /// The compiled entry.
        arm: Box<ArmJob>,
    },
    /// An entry of the kernel's source, launched on a device: the reference entry of the spec, or the baseline.
    Launch {
        /// The name of the device on which the entry runs.
        device: String,
        /// The compiled entry.
        arm: Box<ArmJob>,
        /// How strong the evidence of a comparison with this entry is.
        grade: ReferenceGrade,
    },
}

impl Oracle {
    /// Selects the oracle of a kernel and problem, which is the first of these that is available:
    ///
    /// 1. the plain-Rust reference, if it is linked in and fast enough for the problem
    /// 2. the reference entry of the spec, which `workshop` compiles, launched on `device`
    /// 3. the baseline, launched on `device`; for small problems, the plain-Rust reference if it is linked in
    ///
    /// # Errors
    /// If the reference entry cannot be launched.
    pub fn of(
        catalogue: &[&'static Kernel],
        (kernel, problem): (&TunedKernel, &Problem),
        workshop: &Workshop<'_>,
        device: &str,
        baseline: &ArmJob,
    ) -> Result<Oracle, OracleError> {
        let grade = Oracle::grade_of(catalogue, kernel, problem);
        if grade == ReferenceGrade::Reference {
            return Ok(Oracle::Rust);
        }
        if let Some(Reference::Entry(entry)) = &kernel.spec.reference {
            let which = Which::Reference(entry);
            let made = workshop.make(kernel, which, problem, BuildKind::Release);
            let made = made.map_err(|outcome| OracleError {
                entry: entry.clone(),
                outcome,
            })?;
            return Ok(Oracle::Launch {
                device: device.to_owned(),
                arm: Box::new(made.arm),
                grade,
            });
        }
        let (device, arm) = (device.to_owned(), Box::new(baseline.clone()));
        Ok(match grade {
            ReferenceGrade::ReferenceInSmall => Oracle::RustInSmall {
                spec: Box::new(kernel.spec.clone()),
                device,
                arm,
            },
            grade => Oracle::Launch { device, arm, grade },
        })
    }

    /// How strong the evidence of a comparison with the oracle that [`Self::of`] selects is.
    pub fn grade_of(
        catalogue: &[&'static Kernel],
        kernel: &TunedKernel,
        problem: &Problem,
    ) -> ReferenceGrade {
        if is_linked_in(catalogue, kernel, problem) {
            return ReferenceGrade::Reference;
        }
        if let Some(Reference::Entry(_)) = &kernel.spec.reference {
            return ReferenceGrade::ReferenceEntry;
        }
        match reference_of(catalogue, &kernel.package, &kernel.spec) {
            Some(_) => ReferenceGrade::ReferenceInSmall,
            None => ReferenceGrade::BaselineOnly,
        }
    }

    /// How strong the evidence of a comparison with this oracle is.
    pub fn grade(&self) -> ReferenceGrade {
        match self {
            Oracle::Rust => ReferenceGrade::Reference,
            Oracle::RustInSmall { .. } => ReferenceGrade::ReferenceInSmall,
            Oracle::Launch { grade, .. } => *grade,
        }
    }
}

/// Whether a kernel's plain-Rust reference is linked into this program and the problem is small enough for it.
pub fn is_linked_in(
    catalogue: &[&'static Kernel],
    kernel: &TunedKernel,
    problem: &Problem,
) -> bool {
    is_small(&kernel.spec, problem)
        && reference_of(catalogue, &kernel.package, &kernel.spec).is_some()
}

/// Whether a problem is small enough for a plain-Rust reference.
fn is_small(spec: &KernelSpec, problem: &Problem) -> bool {
    let work = peaks::work(spec, problem);
    work.flops.max(work.bytes) <= MAX_REFERENCE_WORK
}

/// Seed of the inputs of a digest. It does not depend on the run, so digests of two runs can be compared.
const DIGEST_SEED: u64 = 0;

/// A digest of what a kernel's plain-Rust reference computes for a problem. Two runs have the same digest unless the
/// reference, or the function that makes its inputs, has changed. Files are created in `folder`.
///
/// # Errors
/// If the reference fails or takes too long.
pub fn digest(
    bench: &Bench,
    spec: &KernelSpec,
    problem: &Problem,
    folder: &Path,
) -> Result<Hash, WorkerError> {
    let plan = spec.baseline_plan(problem, None).map_err(failed)?;
    let expected = Expectations::new(Oracle::Rust, bench.clone(), folder);
    let path = expected.get(problem, DIGEST_SEED, plan)?;
    Ok(read(&path)?.digest())
}

fn read(path: &Path) -> Result<Expected, WorkerError> {
    let bytes = std::fs::read(path).map_err(failed)?;
    Expected::from_bytes(&bytes).map_err(failed)
}

fn failed(error: impl std::fmt::Display) -> WorkerError {
    WorkerError::Failed {
        arm: None,
        outcome: internal(error),
    }
}

/// The path of the file of one case, or why the file could not be created. The first caller creates the file, and other
/// callers wait.
type Made = Arc<OnceLock<Result<PathBuf, WorkerError>>>;

/// The expected outputs of one kernel, computed on demand.
#[derive(Debug)]
pub struct Expectations {
    oracle: Oracle,
    bench: Bench,
    folder: PathBuf,
    made: Mutex<BTreeMap<(Problem, u64), Made>>,
}

impl Expectations {
    /// Creates an empty set of expectations, whose files will be in `folder`.
    pub fn new(oracle: Oracle, bench: Bench, folder: &Path) -> Expectations {
        Expectations {
            oracle,
            bench,
            folder: folder.to_owned(),
            made: Mutex::default(),
        }
    }

    /// Creates expectations whose worker launches a check build instead of the oracle. Their files are in a separate
    /// folder, because the outputs of a check build must not be taken for those of the oracle.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub(crate) fn of_check_build(&self, arm: ArmJob) -> std::io::Result<Expectations> {
        let folder = self.folder.join("check");
        std::fs::create_dir_all(&folder)?;
        let oracle = Oracle::Launch {
            device: self.bench.device.clone(),
            arm: Box::new(arm),
            grade: ReferenceGrade::BaselineOnly,
        };
        Ok(Expectations::new(oracle, self.bench.clone(), &folder))
    }

    /// How strong the evidence of a comparison with these expected outputs is.
    pub fn grade(&self) -> ReferenceGrade {
        self.oracle.grade()
    }

    /// The path of the file with the expected outputs for a problem and a seed. The first caller starts a worker that
    /// creates the file, and concurrent callers with the same case wait until it exists. `plan` is the launch plan of
    /// the oracle's entry; the plain-Rust reference does not use it.
    ///
    /// # Errors
    /// If the reference fails or takes too long.
    pub fn get(
        &self,
        problem: &Problem,
        seed: u64,
        plan: LaunchPlan,
    ) -> Result<PathBuf, WorkerError> {
        self.get_watched((problem, seed), plan, &|_| Ok(()))
    }

    /// Like [`Self::get`], and passes the times of launches of the bench's problem on to `on_launch`.
    ///
    /// # Errors
    /// The errors of [`Self::get`] and of `on_launch`.
    pub(crate) fn get_watched(
        &self,
        (problem, seed): (&Problem, u64),
        plan: LaunchPlan,
        on_launch: OnLaunch<'_>,
    ) -> Result<PathBuf, WorkerError> {
        let made = {
            let lock = self.made.lock();
            let mut made = lock.unwrap_or_else(std::sync::PoisonError::into_inner);
            made.entry((problem.clone(), seed)).or_default().clone()
        };
        made.get_or_init(|| self.make((problem, seed), plan, on_launch))
            .clone()
    }

    /// Makes the expected outputs of several cases that the plain-Rust reference computes, several at a time, because
    /// the reference runs on one core. [`Self::get`] returns the files, and the errors. Leaves out cases with much
    /// data, which could exhaust the memory of the host together.
    pub(crate) fn prepare(&self, spec: &KernelSpec, cases: &[&Case]) {
        let most = MAX_BYTES_AT_ONCE / rayon::current_num_threads() as u64;
        let fits = |problem: &Problem| {
            let bytes = spec.footprint_bytes(problem);
            bytes.is_ok_and(|bytes| bytes <= most)
        };
        let cases = cases.par_iter().filter(|case| {
            let problem = &case.problem;
            self.launched(problem).is_none() && fits(problem)
        });
        cases.for_each(|case| {
            if let Ok(plan) = spec.baseline_plan(&case.problem, None) {
                // The caller asks for each case again, and gets its error then.
                let _ = self.get(&case.problem, case.seed, plan);
            }
        });
    }

    /// The entry that computes the expected outputs of a problem, and its device; `None` if the plain-Rust reference
    /// does.
    fn launched(&self, problem: &Problem) -> Option<(&String, &ArmJob)> {
        match &self.oracle {
            Oracle::Rust => None,
            Oracle::RustInSmall { spec, device, arm } => {
                (!is_small(spec, problem)).then_some((device, arm))
            }
            Oracle::Launch { device, arm, .. } => Some((device, arm)),
        }
    }

    /// Checks that comparisons with the expected outputs of a problem for several seeds say something about outputs of few
    /// elements. A single comparison cannot show this, because chance may make a few elements small.
    ///
    /// # Errors
    /// [`Outcome::NotComparable`] for the first output about which they say nothing,
    /// and the errors of [`Self::get`].
    pub fn check_few(
        &self,
        spec: &KernelSpec,
        problem: &Problem,
        seeds: &[u64],
    ) -> Result<(), WorkerError> {
        let plan = spec.baseline_plan(problem, None).map_err(failed)?;
        let all = seeds
            .iter()
            .map(|seed| read(&self.get(problem, *seed, plan)?));
        let all: Vec<Expected> = all.collect::<Result<_, _>>()?;
        match Expected::few_unjudged(&all, spec) {
            None => Ok(()),
            Some(unjudged) => Err(WorkerError::Failed {
                arm: None,
                outcome: Outcome::NotComparable {
                    text: unjudged.to_string(),
                },
            }),
        }
    }

    fn make(
        &self,
        (problem, seed): (&Problem, u64),
        plan: LaunchPlan,
        on_launch: OnLaunch<'_>,
    ) -> Result<PathBuf, WorkerError> {
        // The device is part of the file name, because the expected outputs of one case can differ between devices.
        let name = format!(
            "{}-{problem}-{seed}-{}",
            kiln_spec::Hash::of("case", self.bench.spec_json.as_bytes()),
            self.bench.device
        );
        let path = self
            .folder
            .join(kiln_spec::Hash::of("expected", name.as_bytes()).to_string());
        let (open, request) = match self.launched(problem) {
            None => (
                Request::OpenReference(self.bench.reference_job()),
                Request::RustReference {
                    problem: problem.clone(),
                    seed,
                    path: path.clone(),
                },
            ),
            Some((device, arm)) => {
                let mut job = self.bench.job(vec![arm.clone()]);
                job.device.clone_from(device);
                let request = Request::WriteReference {
                    arm: 0,
                    problem: problem.clone(),
                    plan,
                    seed,
                    path: path.clone(),
                };
                (Request::Open(Box::new(job)), request)
            }
        };
        let deadline = match seed & unusual::ANY {
            0 => DEADLINE,
            _ => UNUSUAL_DEADLINE,
        };
        let mut worker = Worker::spawn(&self.bench.worker)?;
        worker.ask(&open, OPENING)?;
        match worker.ask_watched(&request, deadline, on_launch)? {
            Reply::Written => Ok(path),
            _ => Err(WorkerError::Spawn(
                "a worker was asked for a reference, but answered something else".into(),
            )),
        }
    }
}
