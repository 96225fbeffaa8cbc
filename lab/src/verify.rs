//! Verifies every candidate before it is timed. The candidate is launched on small problems of every ragged class
//! (sizes below, at and just above a tile, for example) and on the tuned problem, each with two seeds. Only finalists
//! are launched on problems with more than 16 MiB of data, unless the kernel has no small problems.

use std::fmt::Write;
use std::time::Duration;

use kiln::rig::Layout;
use kiln::{scalars, unusual};
use kiln_cache::Outcome;
use kiln_spec::{Fill, Hash, KernelSpec, LaunchPlan, PlanError, Problem};
use thiserror::Error;

use crate::candidate::outcome::{internal, of_worker_error};
use crate::cases::{Case, unusual_inputs};
use crate::reference::Expectations;
use crate::worker::{ArmJob, OPENING, OnLaunch, Reply, Request, VerifyJob, Worker, WorkerError};
use crate::{Bench, launch_deadline};

/// Time limit for a case in a check build.
const CHECK_DEADLINE: Duration = Duration::from_secs(60);

/// Time limit for the baseline with unusual inputs. A kernel may take very long with some values, for example with a large
/// number of repetitions. It does not support such values then.
const UNUSUAL_DEADLINE: Duration = Duration::from_secs(3);

/// Number of launches of a case for which its time limit leaves time.
const LAUNCHES: u32 = 6;

/// Host time allowed per byte of a case's data. It covers generating the data, copying it to the device and back
/// several times, and comparing it. It is ten times what one busy core needs.
const HANDLING_NS_PER_BYTE: u64 = 200;

/// Ignores the times of launches.
pub(crate) const UNWATCHED: OnLaunch<'static> = &|_| Ok(());

/// The result of verifying a candidate.
#[derive(Clone, Debug, Default)]
pub struct Proof {
    /// The largest error of an output element, as a fraction of its bound.
    pub worst: f64,
    /// The receipts of the launches, as text.
    pub receipts: Vec<String>,
    /// The number of cases that passed.
    pub cases: usize,
    /// The first remark of a check build.
    pub remark: Option<String>,
    /// The hashes of the outputs of cases with receipts and little data.
    pub outputs: Vec<Hash>,
}

/// Why a candidate did not pass verification.
#[derive(Clone, Debug, Error)]
#[error("{outcome}")]
pub struct FailedCase {
    /// The outcome to store.
    pub outcome: Outcome,
    /// The case that failed; `None` if none was launched.
    pub case: Option<Case>,
}

impl From<WorkerError> for FailedCase {
    fn from(error: WorkerError) -> FailedCase {
        FailedCase {
            outcome: of_worker_error(&error),
            case: None,
        }
    }
}

/// The launch plan of an arm (a compiled config, or the baseline) for a problem.
///
/// # Errors
/// If the launch geometry cannot be computed for the problem.
pub fn plan_of(
    spec: &KernelSpec,
    arm: &ArmJob,
    problem: &Problem,
) -> Result<LaunchPlan, PlanError> {
    if arm.baseline {
        spec.baseline_plan(problem, None)
    } else {
        spec.plan(&arm.config, problem, None)
    }
}

/// Verifies the candidates of one kernel.
#[derive(Clone, Copy, Debug)]
pub struct Verifier<'a> {
    /// The settings with which workers are opened.
    pub bench: &'a Bench,
    /// The kernel.
    pub spec: &'a KernelSpec,
    /// The expected outputs.
    pub expected: &'a Expectations,
    /// Time of a launch of the baseline on the tuned problem, in nanoseconds; 0 if not known yet.
    pub baseline_ns: u64,
}

impl Verifier<'_> {
    /// Verifies one arm (a compiled candidate) on all cases that apply to it, in one fresh worker.
    ///
    /// # Errors
    /// If a case fails, or if no case applies. The error describes the first failure, and the worker has ended.
    pub fn verify(&self, arm: &ArmJob, cases: &[Case]) -> Result<Proof, FailedCase> {
        self.verify_watched(arm, cases, UNWATCHED)
    }

    /// Like [`Self::verify`], and passes the times of launches of the bench's problem on to `on_launch`.
    ///
    /// # Errors
    /// The errors of [`Self::verify`] and of `on_launch`.
    pub fn verify_watched(
        &self,
        arm: &ArmJob,
        cases: &[Case],
        on_launch: OnLaunch<'_>,
    ) -> Result<Proof, FailedCase> {
        let jobs = self.jobs(arm, cases, on_launch)?;
        let mut worker = self.open(arm)?;
        self.ask(&mut worker, arm, jobs, on_launch)
    }

    /// The cases that apply to an arm and have expected outputs. A reference may not support a case: some fail without
    /// elements.
    ///
    /// # Errors
    /// If time or disk space ran out before the expected outputs were made.
    pub fn comparable(&self, arm: &ArmJob, cases: Vec<Case>) -> Result<Vec<Case>, FailedCase> {
        let cases = cases.into_iter().filter(|case| self.applies(arm, case));
        let cases: Vec<Case> = cases.collect();
        let all: Vec<&Case> = cases.iter().collect();
        self.expected.prepare(self.spec, &all);
        let mut comparable = Vec::new();
        for case in cases {
            match self.job(arm, &case, 0, UNWATCHED).map_err(FailedCase::from) {
                Ok(_) => comparable.push(case),
                Err(failed) => match failed.outcome {
                    Outcome::OutOfTime | Outcome::DiskFull { .. } => return Err(failed),
                    _ => {}
                },
            }
        }
        Ok(comparable)
    }

    /// Opens a fresh worker with one arm.
    pub(crate) fn open(&self, arm: &ArmJob) -> Result<Worker, WorkerError> {
        let mut worker = Worker::spawn(&self.bench.worker)?;
        let open = Request::Open(Box::new(self.bench.job(vec![arm.clone()])));
        worker.ask(&open, OPENING)?;
        Ok(worker)
    }

    /// The verification jobs for a worker. This function creates the files of expected outputs before the worker is
    /// opened, because creating them may start another worker, and a GPU may accept only one process at a time.
    pub(crate) fn jobs(
        &self,
        arm: &ArmJob,
        cases: &[Case],
        on_launch: OnLaunch<'_>,
    ) -> Result<Vec<(Case, VerifyJob)>, FailedCase> {
        let cases = cases.iter().filter(|case| self.applies(arm, case));
        let cases: Vec<&Case> = cases.collect();
        self.expected.prepare(self.spec, &cases);
        let jobs = cases.into_iter().enumerate().map(|(i, case)| {
            let job = self.job(arm, case, i, on_launch);
            let job = job.map_err(|error| failed_in(case, &error))?;
            Ok::<_, FailedCase>((case.clone(), job))
        });
        let jobs: Vec<(Case, VerifyJob)> = jobs.collect::<Result<_, _>>()?;
        if jobs.is_empty() {
            let error = failed("none of the problems for verification is valid for this config");
            return Err(error.into());
        }
        Ok(jobs)
    }

    pub(crate) fn ask(
        &self,
        worker: &mut Worker,
        arm: &ArmJob,
        jobs: Vec<(Case, VerifyJob)>,
        on_launch: OnLaunch<'_>,
    ) -> Result<Proof, FailedCase> {
        let mut proof = Proof::default();
        for (case, job) in jobs {
            let deadline = self.deadline(arm, &job);
            let request = Request::Verify(job.clone());
            let reply = worker.ask_watched(&request, deadline, on_launch);
            let blamed = reply.map_err(|error| self.blame_alignment(arm, job, error));
            let named = blamed.map_err(|error| self.name_inputs(&case, error));
            match named.map_err(|error| failed_in(&case, &error))? {
                Reply::Verified(verified) => {
                    proof.worst = proof.worst.max(verified.worst);
                    proof
                        .receipts
                        .extend((!verified.receipt.is_empty()).then_some(verified.receipt));
                    proof.cases += 1;
                    proof.remark = proof.remark.or(verified.remark);
                    proof.outputs.extend(verified.outputs);
                }
                _ => {
                    let text = "a worker was asked for a verification, but answered something else";
                    return Err(failed(text).into());
                }
            }
        }
        Ok(proof)
    }

    /// Adds the problem, if it is not the tuned one, and the scalars and inputs that do not have their usual values with
    /// this seed, to an error about outputs or about a fault.
    fn name_inputs(&self, case: &Case, mut error: WorkerError) -> WorkerError {
        let mut changes = scalars::changes(self.spec, &case.problem, case.seed);
        changes.extend(self.unusual_inputs(case.seed));
        if case.problem != self.bench.problem {
            changes.insert(0, case.problem.to_string());
        }
        if changes.is_empty() {
            return error;
        }
        let text = changes.join(", ");
        if let WorkerError::Failed { outcome, .. } = &mut error {
            match outcome {
                Outcome::Incorrect(worst) => worst.inputs = Some(text.into()),
                Outcome::NotANumber { inputs, .. } | Outcome::Unwritten { inputs, .. } => {
                    *inputs = Some(text.into());
                }
                Outcome::KernelFault { text: fault } if case.seed & unusual::ANY != 0 => {
                    write!(fault, "\nnote: it ran with {text}").expect("a string takes any text");
                }
                _ => {}
            }
        }
        error
    }

    /// The inputs that have unusual values with this seed, as text.
    fn unusual_inputs(&self, seed: u64) -> Option<String> {
        let inputs = || unusual_inputs(self.spec, &self.bench.problem, seed);
        let names: Vec<String> = inputs().map(|slice| format!("`{}`", slice.name)).collect();
        let help = match inputs().any(|slice| slice.fill == Fill::ByType) {
            true => " (if programs never pass such values, declare theirs with `#[fill(..)]`)",
            false => "",
        };
        let names = names.join(" and ");
        (!names.is_empty()).then(|| format!("unusual values in {names}{help}"))
    }

    /// If an arm crashes on buffers with no more than the declared alignment, and not on others, returns an error that
    /// says so. Otherwise returns `error`.
    fn blame_alignment(&self, arm: &ArmJob, job: VerifyJob, error: WorkerError) -> WorkerError {
        let outcome = of_worker_error(&error);
        if !is_crash(&outcome)
            || !matches!(job.layout, Layout::Views | Layout::Mixed | Layout::Pairs)
        {
            return error;
        }
        let deadline = self.deadline(arm, &job);
        let aligned = VerifyJob {
            layout: Layout::Zones,
            ..job
        };
        let again = self
            .open(arm)
            .and_then(|mut worker| worker.ask(&Request::Verify(aligned), deadline));
        let does = match again.map_err(|error| of_worker_error(&error)) {
            Ok(Reply::Verified(_)) => "works",
            // Its outputs are wrong as well.
            Err(other) if !is_crash(&other) => "does not crash",
            _ => return error,
        };
        WorkerError::Failed {
            arm: Some(0),
            outcome: Outcome::KernelFault {
                text: format!(
                    "alignment: it {does} if slices begin at multiples of 256 bytes, but fails if they have only the \
                     alignment that the spec declares, as the view `x.view(1..)` has ({outcome})\n\
                     help: declare `#[align(4)]`, for example, on each slice that the kernel reads or writes as \
                     vectors of 4"
                ),
            },
        }
    }

    /// Time limit for a case. It covers the launches of the receipt and release entries, and the time in which the host
    /// handles the data.
    fn deadline(&self, arm: &ArmJob, job: &VerifyJob) -> Duration {
        let bytes = self.spec.footprint_bytes(&job.problem).unwrap_or(0);
        let handling = Duration::from_nanos(bytes.saturating_mul(HANDLING_NS_PER_BYTE));
        if arm.baseline && job.seed & unusual::ANY != 0 {
            return UNUSUAL_DEADLINE + handling;
        }
        if arm.check {
            // A check build is much slower because it checks every access. The baseline was timed without checks, so
            // its time cannot be used to compute the limit.
            return CHECK_DEADLINE;
        }
        launch_deadline(self.baseline_ns).saturating_mul(LAUNCHES)
            + Duration::from_secs(4)
            + handling
    }

    /// Whether a case applies to an arm. Small problems are chosen for all configs of a task, so a constraint or a limit of
    /// the device may exclude the arm's config on a small problem.
    pub fn applies(&self, arm: &ArmJob, case: &Case) -> bool {
        if case.problem == self.bench.problem || arm.baseline {
            return true;
        }
        // Constraints on the device are left out, because a check build runs on another one.
        let valid = self.spec.check_config(&arm.config, &case.problem, None);
        let plan = plan_of(self.spec, arm, &case.problem);
        valid.is_ok() && plan.map_or(true, |plan| plan.check(&self.bench.device_limits).is_ok())
    }

    fn job(
        &self,
        arm: &ArmJob,
        case: &Case,
        number: usize,
        on_launch: OnLaunch<'_>,
    ) -> Result<VerifyJob, WorkerError> {
        let plan = plan_of(self.spec, arm, &case.problem).map_err(failed)?;
        // The reference is launched with the baseline's geometry, not with the candidate's.
        let reference_plan = self.spec.baseline_plan(&case.problem, None);
        let reference_plan = reference_plan.map_err(failed)?;
        let made = (&case.problem, case.seed);
        let expected = self.expected.get_watched(made, reference_plan, on_launch)?;
        let nonce = case.receipt.then(|| nonce(arm, case.seed, number));
        let problem = case.problem.clone();
        Ok(VerifyJob {
            arm: 0,
            problem,
            plan,
            seed: case.seed,
            expected,
            nonce,
            layout: case.layout,
            again: case.again,
        })
    }
}

/// Whether the kernel itself failed, not its outputs.
fn is_crash(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::KernelFault { .. } => true,
        Outcome::WorkerLost { signal, .. } => signal.is_some(),
        _ => false,
    }
}

/// Returns a number that no earlier receipt contains.
fn nonce(arm: &ArmJob, seed: u64, number: usize) -> u64 {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    let text = format!(
        "{} {seed} {number} {} {}",
        arm.release,
        now.as_nanos(),
        std::process::id()
    );
    kiln_spec::Hash::of("nonce", text.as_bytes()).short().max(1)
}

fn failed_in(case: &Case, error: &WorkerError) -> FailedCase {
    FailedCase {
        outcome: of_worker_error(error),
        case: Some(case.clone()),
    }
}

fn failed(text: impl std::fmt::Display) -> WorkerError {
    WorkerError::Failed {
        arm: Some(0),
        outcome: internal(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Oracle;
    use crate::worker::WorkerLimits;
    use crate::worker::protocol::ProcessLimits;

    #[test]
    fn a_verification_without_cases_is_an_error() {
        let kernel = kiln_kernels::catalogue()
            .first()
            .expect("the library has a kernel");
        let spec = kernel.spec();
        let bench = bench(spec);
        let folder = std::env::temp_dir();
        let expected = Expectations::new(Oracle::Rust, bench.clone(), &folder);
        let verifier = Verifier {
            bench: &bench,
            spec,
            expected: &expected,
            baseline_ns: 0,
        };
        let error = verifier.verify(&arm(spec, false), &[]).unwrap_err();
        assert!(
            error.to_string().contains("none of the problems"),
            "{error}"
        );
        let kept =
            crate::kept_worker::KeptWorker::default().verify(&verifier, &arm(spec, false), &[]);
        assert!(kept.is_err());
    }

    #[test]
    fn a_check_build_has_address_space_for_the_history_of_its_accesses() {
        let kernel = kiln_kernels::catalogue()
            .first()
            .expect("the library has a kernel");
        let bench = bench(kernel.spec());
        let bytes = |check| {
            bench
                .job(vec![arm(kernel.spec(), check)])
                .limits
                .memory_bytes
        };
        assert_eq!(bytes(false), 4 << 30);
        let history = kiln::backend::cpu::history_bytes(64 << 20);
        assert!(history > 4 << 30, "{history}");
        assert!(bytes(true) >= (4 << 30) + history, "{}", bytes(true));
    }

    fn bench(spec: &KernelSpec) -> Bench {
        Bench {
            worker: WorkerLimits {
                command: Vec::new(),
                reap: Duration::ZERO,
                until: None,
            },
            device: "cpu".into(),
            package: "kiln-kernels".into(),
            spec_json: spec.to_json(),
            problem: spec.problems[0].clone(),
            seed: 1,
            sets: 1,
            timer_tick_ns: 1,
            limits: ProcessLimits {
                memory_bytes: 4 << 30,
                cpu_seconds: 0,
            },
            device_limits: kiln_spec::targets::CPU_LIMITS,
        }
    }

    fn arm(spec: &KernelSpec, check: bool) -> ArmJob {
        ArmJob {
            artifact: "none".into(),
            artifact_hash: kiln_spec::Hash::of("artifact", b""),
            target: "cpu".into(),
            check,
            release: "release".into(),
            receipt: "receipt".into(),
            symbol_hash: 0,
            config_hash: 0,
            config: spec.baseline.config.clone(),
            baseline: true,
            plan: LaunchPlan {
                grid: [1; 3],
                block: [1; 3],
                shared_bytes: 0,
            },
            launches: 0,
            launch_ns: 0,
        }
    }
}
