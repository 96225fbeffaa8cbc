//! Correct before timed: every candidate is launched on small problems of every ragged class and on the real
//! one, with two seeds, in a worker of its own.

use std::time::Duration;

use kiln_spec::{KernelSpec, LaunchPlan, PlanError, Problem};

use crate::candidate::outcome::internal;
use crate::lab::reference::Expectations;
use crate::lab::worker::{ArmJob, Reply, Request, VerifyJob, Worker, WorkerError};
use crate::lab::{Bench, launch_deadline};

/// How long a case may take in a checking build.
const CHECK_DEADLINE: Duration = Duration::from_secs(60);

/// How long a worker may take to open.
const OPENING: Duration = Duration::from_secs(20);

/// How long the host may take for a byte of a case's data, all that is done with it together: making it, copying it to the device
/// and back several times, comparing. Ten times what one busy core takes.
const HANDLING_NS_PER_BYTE: u64 = 200;

/// Problems with more data than this are verified for finalists only, not for every trial: what the host does with the data
/// would take thousands of times as long as the launch.
const MAX_TRIAL_BYTES: u64 = 16 << 20;

/// A problem that candidates are verified on.
#[derive(Clone, Debug)]
pub struct Case {
    /// The problem.
    pub problem: Problem,
    /// Seed of the inputs.
    pub seed: u64,
    /// Launch the receipt entry too.
    pub receipt: bool,
}

/// The seeds of a run's inputs: of the first case of a problem, on which it is timed too, and of the second.
pub fn seeds(seed: u64) -> [u64; 2] {
    let first = seed.wrapping_mul(2);
    [first, first.wrapping_add(1)]
}

/// The cases of a task: every verification problem and the tuned one, each with two seeds.
pub fn cases(verification: &[Problem], problem: &Problem, seed: u64) -> Vec<Case> {
    let all = verification
        .iter()
        .filter(|&small| small != problem)
        .chain([problem]);
    let case = |problem: &Problem, which: usize| {
        let problem = problem.clone();
        // The receipt is a matter of the launch, not of the data: one seed is enough for it.
        Case {
            problem,
            seed: seeds(seed)[which],
            receipt: which == 0,
        }
    };
    all.flat_map(|problem| [case(problem, 0), case(problem, 1)])
        .collect()
}

/// Whether every trial is verified on a problem, or finalists only.
pub fn is_for_trials(spec: &KernelSpec, problem: &Problem) -> bool {
    spec.footprint_bytes(problem)
        .is_ok_and(|bytes| bytes <= MAX_TRIAL_BYTES)
}

/// A worker that verifies one candidate after the other, where a candidate cannot break what the next one runs in: each has its
/// own code on a GPU, and what it could spoil is written anew. A failure is judged in a fresh worker.
#[derive(Debug, Default)]
pub struct KeptWorker(Option<Worker>);

impl KeptWorker {
    /// As [`Verifier::verify`], in the worker that verified the candidate before if it still lives.
    ///
    /// # Errors
    /// As [`Verifier::verify`].
    pub fn verify(
        &mut self,
        verifier: &Verifier<'_>,
        arm: &ArmJob,
        cases: &[Case],
    ) -> Result<Proof, WorkerError> {
        let jobs = verifier.jobs(arm, cases)?;
        if let Some(mut worker) = self.0.take() {
            let load = Request::Load(Box::new(arm.clone()));
            let loaded = worker.ask(&load, OPENING);
            if let Ok(proof) = loaded.and_then(|_| verifier.ask(&mut worker, arm, jobs.clone())) {
                self.0 = Some(worker);
                return Ok(proof);
            }
        }
        let mut worker = verifier.open(arm)?;
        let proof = verifier.ask(&mut worker, arm, jobs)?;
        self.0 = Some(worker);
        Ok(proof)
    }

    /// Ends the worker, so that nothing else holds the device.
    pub fn end(&mut self) {
        self.0 = None;
    }
}

/// What a verified candidate showed.
#[derive(Clone, Debug, Default)]
pub struct Proof {
    /// Largest error, as a fraction of its bound.
    pub worst: f64,
    /// The receipts, in words.
    pub receipts: Vec<String>,
    /// Cases passed.
    pub cases: usize,
}

/// The plan of an arm for a problem.
///
/// # Errors
/// When its geometry has no value there.
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

/// What verifying a candidate needs.
#[derive(Clone, Copy, Debug)]
pub struct Verifier<'a> {
    /// How workers are opened.
    pub bench: &'a Bench,
    /// The kernel.
    pub spec: &'a KernelSpec,
    /// What its outputs should be.
    pub expected: &'a Expectations,
    /// Time of a launch of the baseline on the tuned problem, in nanoseconds; 0 when not known yet.
    pub baseline_ns: u64,
}

impl Verifier<'_> {
    /// Verifies one arm on all cases, in one fresh worker.
    ///
    /// # Errors
    /// The first failure; the worker is gone then.
    pub fn verify(&self, arm: &ArmJob, cases: &[Case]) -> Result<Proof, WorkerError> {
        let jobs = self.jobs(arm, cases)?;
        let mut worker = self.open(arm)?;
        self.ask(&mut worker, arm, jobs)
    }

    /// A fresh worker with one arm.
    fn open(&self, arm: &ArmJob) -> Result<Worker, WorkerError> {
        let mut worker = Worker::spawn(&self.bench.worker)?;
        let open = Request::Open(Box::new(self.bench.job(vec![arm.clone()])));
        worker.ask(&open, OPENING)?;
        Ok(worker)
    }

    /// What a worker is asked for. Expected outputs are made here, before the worker is opened: another worker may launch for
    /// them, and a GPU may admit one process at a time.
    fn jobs(&self, arm: &ArmJob, cases: &[Case]) -> Result<Vec<VerifyJob>, WorkerError> {
        let cases = cases.iter().filter(|case| self.applies(arm, case));
        let jobs = cases.enumerate().map(|(i, case)| self.job(arm, case, i));
        jobs.collect()
    }

    fn ask(
        &self,
        worker: &mut Worker,
        arm: &ArmJob,
        jobs: Vec<VerifyJob>,
    ) -> Result<Proof, WorkerError> {
        let mut proof = Proof::default();
        for job in jobs {
            let deadline = self.deadline(arm, &job.problem);
            match worker.ask(&Request::Verify(job), deadline)? {
                Reply::Verified(verified) => {
                    proof.worst = proof.worst.max(verified.worst);
                    proof
                        .receipts
                        .extend((!verified.receipt.is_empty()).then_some(verified.receipt));
                    proof.cases += 1;
                }
                _ => {
                    return Err(failed(
                        "a worker answered something else than a verification",
                    ));
                }
            }
        }
        Ok(proof)
    }

    /// How long a case may take: the receipt and release entries, and what the host does with the data.
    fn deadline(&self, arm: &ArmJob, problem: &Problem) -> Duration {
        if arm.check {
            // Each access is looked at there, and the baseline's time was found without.
            return CHECK_DEADLINE;
        }
        let bytes = self.spec.footprint_bytes(problem).unwrap_or(0);
        let handling = Duration::from_nanos(bytes.saturating_mul(HANDLING_NS_PER_BYTE));
        launch_deadline(self.baseline_ns).saturating_mul(4) + Duration::from_secs(4) + handling
    }

    /// Small problems are derived from the spec; a constraint may exclude one for a single config.
    fn applies(&self, arm: &ArmJob, case: &Case) -> bool {
        case.problem == self.bench.problem
            || arm.baseline
            || self
                .spec
                .check_config(&arm.config, &case.problem, None)
                .is_ok()
    }

    fn job(&self, arm: &ArmJob, case: &Case, number: usize) -> Result<VerifyJob, WorkerError> {
        let plan = plan_of(self.spec, arm, &case.problem).map_err(failed)?;
        // The reference is launched with the baseline's geometry, whatever the candidate's is.
        let reference_plan = self.spec.baseline_plan(&case.problem, None);
        let reference_plan = reference_plan.map_err(failed)?;
        let expected = self
            .expected
            .get(&case.problem, case.seed, reference_plan)?;
        let nonce = case.receipt.then(|| nonce(arm, case.seed, number));
        let problem = case.problem.clone();
        // Zones find a stray write by one element, fences also a stray read: one seed each.
        Ok(VerifyJob {
            arm: 0,
            problem,
            plan,
            seed: case.seed,
            expected,
            nonce,
            fenced: !case.receipt,
        })
    }
}

/// A number that no earlier receipt can hold.
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

fn failed(text: impl std::fmt::Display) -> WorkerError {
    WorkerError::Failed {
        arm: Some(0),
        outcome: internal(text),
    }
}
