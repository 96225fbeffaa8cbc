//! A [`Lab`] that runs candidates in worker processes. The races and confirmations of [`kiln_measure`] time candidates
//! with it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use kiln::backend::cpu::history_bytes;
use kiln::device::DeviceInfo;
use kiln::unusual;
use kiln_cache::Outcome;
use kiln_spec::{Backend, DeviceLimits, Problem};

use crate::candidate::outcome::of_worker_error;
use crate::regime::Regime;
use crate::worker::protocol::{PROTOCOL, ProcessLimits, ReferenceJob};
use crate::worker::{ArmJob, OPENING, OpenJob, Reply, Request, Worker, WorkerError, WorkerLimits};
use kiln_measure::{ArmId, Clock, Fault, Lab, Opening, Sample, Session};
use kiln_project::TunedKernel;

/// Minimum deadline of a launch.
const MIN_DEADLINE: Duration = Duration::from_secs(2);

/// Deadline of a launch before the baseline's time is known.
const FIRST_DEADLINE: Duration = Duration::from_secs(60);

/// A candidate is considered hung if its launch takes longer than this many times the baseline's launch, and longer
/// than [`MIN_DEADLINE`].
const SLOWEST: u32 = 20;

/// Number of launches per arm that the deadline for opening a process allows for. These launches warm up the arm and
/// probe its time.
const WARM_LAUNCHES: u32 = 8;

/// The settings that all workers of one kernel and problem share.
#[derive(Clone, Debug)]
pub struct Bench {
    /// How workers are started.
    pub worker: WorkerLimits,
    /// The name of the device on the command line.
    pub device: String,
    /// The package that declares the kernel.
    pub package: String,
    /// The kernel spec, as JSON.
    pub spec_json: String,
    /// The problem on which arms are timed.
    pub problem: Problem,
    /// The seed of the inputs.
    pub seed: u64,
    /// The number of copies of the data that timed launches cycle through.
    pub sets: usize,
    /// The resolution of the device's clock, in nanoseconds.
    pub timer_tick_ns: u64,
    /// Limits of each worker process.
    pub limits: ProcessLimits,
    /// The limits of the device, which may exclude a config on some problems.
    pub device_limits: DeviceLimits,
}

/// The device, and the settings of its workers that do not depend on the kernel.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// How workers are started.
    pub worker: &'a WorkerLimits,
    /// The name of the device on the command line.
    pub device: &'a str,
    /// The description of the device.
    pub info: &'a DeviceInfo,
    /// Whether timed launches begin with cold or hot caches.
    pub regime: Regime,
    /// The seed of the inputs.
    pub seed: u64,
}

impl Bench {
    /// Creates the settings for the workers of a kernel and problem.
    pub fn new(site: &Site<'_>, kernel: &TunedKernel, problem: &Problem) -> Bench {
        let spec = &kernel.spec;
        // The memory limit leaves room for several copies of the data and for the program itself, but stops a runaway
        // allocation early.
        let data = spec.footprint_bytes(problem).unwrap_or(0);
        let sets = site.regime.sets(data, &site.info.limits);
        let memory_bytes = data.saturating_mul(sets as u64 + 8).saturating_add(4 << 30);
        let host = matches!(site.info.key.backend, Backend::Cpu | Backend::Fake);
        Bench {
            worker: site.worker.clone(),
            device: site.device.to_owned(),
            package: kernel.package.clone(),
            spec_json: spec.to_json(),
            problem: problem.clone(),
            seed: site.seed,
            sets,
            timer_tick_ns: site.info.timer_tick_ns,
            // GPU drivers reserve far more address space than they use.
            limits: ProcessLimits {
                memory_bytes: if host { memory_bytes } else { 0 },
                cpu_seconds: 0,
            },
            device_limits: site.info.limits,
        }
    }

    /// The limits of a worker with these arms. A check build also keeps a history of accesses, which takes many times as
    /// much address space as the data.
    fn limits_of(&self, arms: &[ArmJob]) -> ProcessLimits {
        let mut limits = self.limits;
        if limits.memory_bytes > 0 && arms.iter().any(|arm| arm.check) {
            let history = history_bytes(limits.memory_bytes);
            limits.memory_bytes = limits.memory_bytes.saturating_add(history);
        }
        limits
    }

    /// The job with which a worker opens the kernel's plain-Rust reference.
    pub fn reference_job(&self) -> ReferenceJob {
        ReferenceJob {
            protocol: PROTOCOL,
            package: self.package.clone(),
            spec_json: self.spec_json.clone(),
            limits: self.limits,
        }
    }

    /// The job with which a worker opens some arms.
    pub fn job(&self, arms: Vec<ArmJob>) -> OpenJob {
        OpenJob {
            protocol: PROTOCOL,
            device: self.device.clone(),
            package: self.package.clone(),
            spec_json: self.spec_json.clone(),
            problem: self.problem.clone(),
            seed: self.seed,
            sets: self.sets,
            load_order: (0..arms.len()).collect(),
            timed: false,
            timer_tick_ns: self.timer_tick_ns,
            limits: self.limits_of(&arms),
            arms,
        }
    }
}

/// A [`Lab`] in which every process is a worker.
#[derive(Debug)]
pub struct WorkerLab {
    bench: Bench,
    start: Instant,
    arms: Vec<ArmJob>,
    baseline_ns: u64,
    expected: PathBuf,
    launches: u64,
    /// Whether outputs are compared again at the end of every process.
    rechecks: bool,
    /// Whether each process has other inputs.
    fresh_inputs: bool,
    /// Number of processes that were opened.
    processes: u64,
}

impl WorkerLab {
    /// Creates a lab without arms. `expected` is the file with the expected outputs. If outputs are compared again
    /// after timing, they are compared with this file.
    pub fn new(bench: Bench, expected: PathBuf) -> WorkerLab {
        WorkerLab {
            bench,
            start: Instant::now(),
            arms: Vec::new(),
            baseline_ns: 0,
            expected,
            launches: 0,
            rechecks: true,
            fresh_inputs: true,
            processes: 0,
        }
    }

    /// Times all processes on the inputs of the bench's seed, because another program has these inputs too. Otherwise
    /// each process has other inputs, so that no decision rests on what a kernel does with a single set of them.
    pub fn keep_inputs(&mut self) {
        self.fresh_inputs = false;
    }

    /// The seed of the inputs of the next process.
    fn next_seed(&mut self) -> u64 {
        let process = self.processes;
        if self.fresh_inputs {
            self.processes += 1;
        }
        seed_of(self.bench.seed, process)
    }

    /// Adds a verified candidate. The first candidate that is added must be the baseline.
    pub fn add(&mut self, arm: ArmJob) -> ArmId {
        self.arms.push(arm);
        ArmId(self.arms.len() - 1)
    }

    /// Sets the time of a launch of the baseline in nanoseconds, from which deadlines are derived.
    pub fn set_baseline_ns(&mut self, baseline_ns: u64) {
        self.baseline_ns = baseline_ns;
    }

    /// Sets whether outputs are compared again at the end of every process. For large outputs, this comparison takes
    /// many times as long as the timing. Races therefore omit it, and outputs are compared again only in the processes
    /// that confirm a finalist.
    pub fn set_rechecks(&mut self, rechecks: bool) {
        self.rechecks = rechecks;
    }

    /// Time of a launch of the baseline, in nanoseconds.
    pub fn baseline_ns(&self) -> u64 {
        self.baseline_ns
    }

    /// Time of a launch of an arm in nanoseconds, as measured in the last process that loaded the arm; 0 if none has.
    pub fn launch_ns(&self, arm: ArmId) -> u64 {
        self.arms[arm.0].launch_ns
    }

    /// Duration of a sample of an arm in nanoseconds, as measured in the last process that loaded the arm; 0 if none
    /// has.
    pub fn span_ns(&self, arm: ArmId) -> u64 {
        let arm = &self.arms[arm.0];
        arm.launch_ns.saturating_mul(u64::from(arm.launches))
    }

    /// Number of launches that were timed so far.
    pub fn launches(&self) -> u64 {
        self.launches
    }

    /// The deadline of one launch.
    pub fn launch_deadline(&self) -> Duration {
        launch_deadline(self.baseline_ns)
    }

    fn deadline_of(&self, launches: u64) -> Duration {
        let launches = u32::try_from(launches.max(1)).unwrap_or(u32::MAX);
        // The minimum deadline is added once, not per launch, because many short launches do not each need it.
        let expected = Duration::from_nanos(self.baseline_ns.saturating_mul(u64::from(SLOWEST)));
        MIN_DEADLINE
            + self
                .launch_deadline()
                .max(expected.saturating_mul(launches))
    }
}

/// The seed of the inputs of a process, derived from the seed of the bench, which the first process has. All others are
/// even and have usual values, because odd seeds vary scalars (see [`kiln::reference::make_data_for`]).
fn seed_of(bench: u64, process: u64) -> u64 {
    if process == 0 {
        return bench;
    }
    let text = format!("{bench} {process}");
    kiln_spec::Hash::of("inputs of a process", text.as_bytes()).short() & !(unusual::ANY | 1)
}

/// The deadline of one launch of a candidate, derived from the time of a launch of the baseline in nanoseconds. If that
/// time is not known yet (0), only the baseline and the reference are launched, and the deadline is a minute.
pub fn launch_deadline(baseline_ns: u64) -> Duration {
    if baseline_ns == 0 {
        return FIRST_DEADLINE;
    }
    let allowed = Duration::from_nanos(baseline_ns.saturating_mul(u64::from(SLOWEST)));
    allowed.max(MIN_DEADLINE)
}

impl Clock for WorkerLab {
    fn now_ns(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

impl Lab for WorkerLab {
    fn open(&mut self, opening: &Opening) -> Result<Box<dyn Session + '_>, Fault> {
        // The order of allocation cannot be randomised, because all arms use the same buffers.
        let mut job = self.bench.job(
            opening
                .load
                .iter()
                .map(|arm| self.arms[arm.0].clone())
                .collect(),
        );
        job.timed = true;
        job.seed = self.next_seed();
        let count = opening.load.len() as u64;
        let deadline = OPENING + self.deadline_of(count * u64::from(WARM_LAUNCHES));
        let mut worker = Worker::spawn(&self.bench.worker)
            .map_err(|error| fault(&opening.load, None, &error))?;
        let reply = worker.ask(&Request::Open(Box::new(job)), deadline);
        let reply = reply.map_err(|error| fault(&opening.load, worker.launching(), &error))?;
        let Reply::Opened { pace } = reply else {
            return Err(out_of_turn("opening"));
        };
        for (arm, (launches, launch_ns)) in opening.load.iter().zip(pace) {
            let arm = &mut self.arms[arm.0];
            (arm.launches, arm.launch_ns) = (launches, launch_ns);
        }
        Ok(Box::new(WorkerSession {
            worker,
            order: opening.load.clone(),
            lab: self,
        }))
    }
}

struct WorkerSession<'a> {
    worker: Worker,
    order: Vec<ArmId>,
    lab: &'a mut WorkerLab,
}

impl Clock for WorkerSession<'_> {
    fn now_ns(&self) -> u64 {
        self.lab.now_ns()
    }
}

impl Session for WorkerSession<'_> {
    fn run(&mut self, plan: &[ArmId]) -> Result<Vec<Sample>, Fault> {
        let place = |arm: &ArmId| self.order.iter().position(|other| other == arm);
        let schedule: Vec<usize> = plan.iter().filter_map(place).collect();
        let launches: u64 = plan
            .iter()
            .map(|arm| u64::from(self.lab.arms[arm.0].launches.max(1)))
            .sum();
        let deadline = self.lab.deadline_of(launches);
        match self.worker.ask(&Request::Sample { schedule }, deadline) {
            Ok(Reply::Samples(samples)) => {
                self.lab.launches += launches;
                Ok(samples)
            }
            Ok(_) => Err(out_of_turn("sampling")),
            Err(error) => Err(fault(&self.order, self.worker.launching(), &error)),
        }
    }

    fn finish(&mut self) -> Result<(), Fault> {
        if !self.lab.rechecks {
            return Ok(());
        }
        // The baseline is rechecked only in a process in which it is the only arm. In other processes, its outputs are
        // not in doubt, because they were verified before, and it is often by far the slowest arm.
        let alone = self.order.len() == 1;
        let arms: Vec<usize> = (0..self.order.len())
            .filter(|&place| alone || self.order[place].0 != 0)
            .collect();
        let deadline = OPENING + self.lab.deadline_of(arms.len() as u64);
        let request = Request::Recheck {
            arms,
            seed: self.lab.bench.seed,
            expected: self.lab.expected.clone(),
        };
        match self.worker.ask(&request, deadline) {
            Ok(Reply::Rechecked) => Ok(()),
            Ok(_) => Err(out_of_turn("checking again")),
            Err(error) => Err(fault(&self.order, self.worker.launching(), &error)),
        }
    }
}

fn out_of_turn(doing: &str) -> Fault {
    Fault::unattributed(Outcome::WorkerLost {
        signal: None,
        detail: format!("it answered something else when {doing}"),
    })
}

/// Converts a worker's failure to the fault of a race. If the worker reported the failure, the fault belongs to the arm
/// that the report names, if it names one. If the worker died or was killed at its deadline, the fault belongs to the
/// arm that was launched last. Other failures belong to no arm.
fn fault(order: &[ArmId], launching: Option<usize>, error: &WorkerError) -> Fault {
    let arm = match error {
        WorkerError::Failed { arm, .. } => *arm,
        WorkerError::TimedOut(_) | WorkerError::Lost { .. } => launching,
        WorkerError::Unkillable { .. } | WorkerError::OutOfTime | WorkerError::Spawn(_) => None,
    };
    Fault {
        arm: arm.and_then(|arm| order.get(arm).copied()),
        outcome: of_worker_error(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_process_has_inputs_of_its_own_and_scalars_as_declared() {
        assert_eq!(seed_of(6, 0), 6);
        let mut seeds: Vec<u64> = (0..1000).map(|process| seed_of(6, process)).collect();
        let is_declared = |seed: &u64| seed.is_multiple_of(2) && seed & unusual::ANY == 0;
        assert!(seeds.iter().all(is_declared));
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 1000);
        assert_ne!(seed_of(8, 1), seed_of(6, 1));
    }
}
