//! What a worker has open: a device, the loaded arms, and the data they run on.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kiln::backend::fake::provide_kernel;
use kiln::compiler::{Artifact, BuildKind};
use kiln::device::{DeviceError, Function};
use kiln::receipt::ExpectedReceipt;
use kiln::rig::{Expected, HostPace, Layout, Rig, RigError};
use kiln::{Kernel, Stream};
use kiln_spec::{Access, KernelSpec, LaunchPlan, Problem};

use super::frame;
use super::protocol::{ArmJob, Failure, OpenJob, Reply, Request, Verified, VerifyJob};
use super::server::{failure_of, read_expected, spec_of, write_expected};
use crate::measure::Sample;
use crate::measure::span::{Resolution, launches_per_sample};

/// Launches that warm an arm: module loading, page faults and caches are behind it then.
const WARM_LAUNCHES: u32 = 3;
/// Probes that the number of launches of a sample is judged by.
const PROBES: usize = 3;

/// A probe of this many times the least span needs no other: no disturbance is that large.
const AMPLE: u64 = 10;

/// A slow kernel is warm after this time, however few launches that was.
const WARM_TIME: Duration = Duration::from_millis(50);

/// A launch this long shows nothing of a cold start: milliseconds of page faults are below half a percent of it.
const COLD_ENOUGH_NS: u64 = 500_000_000;

/// A failure, and the arm it belongs to where one can be named.
pub(super) type ArmFailure = (Option<usize>, Failure);

/// Everything a worker has open.
pub(super) struct Opened {
    stream: Stream,
    spec: Arc<KernelSpec>,
    arms: Vec<LoadedArm>,
    timing: Option<Rig>,
    timer_tick_ns: u64,
    catalogue: &'static [&'static Kernel],
}

struct LoadedArm {
    job: ArmJob,
    release: Function,
    receipt: Function,
}

impl Opened {
    pub(super) fn new(
        job: &OpenJob,
        catalogue: &'static [&'static Kernel],
    ) -> Result<Opened, ArmFailure> {
        let nobody = |failure| (None, failure);
        let spec = spec_of(job).map_err(nobody)?;
        // The fake device computes what it is given in a kernel's place.
        for kernel in catalogue
            .iter()
            .filter(|kernel| job.device.starts_with("fake") && kernel.name() == spec.name)
        {
            for entry in [&kernel.spec().entry, &kernel.spec().baseline.entry] {
                provide_kernel(entry, kernel);
            }
        }
        let device = kiln::open(&job.device)
            .map_err(|error| nobody(Failure::Internal(error.to_string())))?;
        if job.timed {
            let ready = device.ready_for_timing();
            ready.map_err(|error| nobody(Failure::Internal(error.to_string())))?;
        }
        let stream = Stream::default_of(device);
        let mut loaded: Vec<Option<LoadedArm>> = job.arms.iter().map(|_| None).collect();
        for &arm in &job.load_order {
            let Some(wanted) = job.arms.get(arm) else {
                return Err(nobody(Failure::Internal(format!(
                    "there is no arm {arm} to load"
                ))));
            };
            loaded[arm] = Some(load(&stream, wanted).map_err(|failure| (Some(arm), failure))?);
        }
        let arms: Vec<LoadedArm> = loaded.into_iter().flatten().collect();
        if arms.len() != job.arms.len() {
            return Err(nobody(Failure::Internal(
                "the load order misses an arm".into(),
            )));
        }
        let mut timing = None;
        if job.timed {
            let rig = Rig::rotating(&stream, &spec, &job.problem, job.seed, job.sets);
            timing = Some(rig.map_err(|error| nobody(failure_of(error)))?);
        }
        Ok(Opened {
            stream,
            spec,
            arms,
            timing,
            timer_tick_ns: job.timer_tick_ns,
            catalogue,
        })
    }

    pub(super) fn answer(
        &mut self,
        request: Request,
        replies: &mut impl Write,
    ) -> Result<Reply, ArmFailure> {
        match request {
            Request::Open(_) => Err((
                None,
                Failure::Internal("this worker is open already".into()),
            )),
            Request::OpenCompiler(_) | Request::Compile(_) => {
                Err((None, Failure::Internal("this worker launches".into())))
            }
            Request::Verify(job) => {
                let arm = job.arm;
                self.verify(&job)
                    .map(Reply::Verified)
                    .map_err(|failure| (Some(arm), failure))
            }
            Request::WriteReference {
                arm,
                problem,
                plan,
                seed,
                path,
            } => {
                let outputs = self
                    .launch_once(arm, &problem, &plan, seed)
                    .map_err(|failure| (Some(arm), failure))?;
                write_expected(&path, &outputs)
                    .map(|()| Reply::Written)
                    .map_err(|failure| (None, failure))
            }
            Request::RustReference {
                problem,
                seed,
                path,
            } => {
                let outputs = self
                    .reference(&problem, seed)
                    .map_err(|failure| (None, failure))?;
                write_expected(&path, &outputs)
                    .map(|()| Reply::Written)
                    .map_err(|failure| (None, failure))
            }
            Request::Sample { schedule } => self.sample(&schedule, replies).map(Reply::Samples),
            Request::Recheck { arms, expected } => self
                .recheck(&arms, &expected, replies)
                .map(|()| Reply::Rechecked),
            Request::HostPace {
                arm,
                launches,
                pairs,
            } => self
                .host_pace(arm, launches, pairs)
                .map(Reply::HostPace)
                .map_err(|failure| (Some(arm), failure)),
        }
    }

    fn arm(&self, arm: usize) -> Result<&LoadedArm, Failure> {
        self.arms
            .get(arm)
            .ok_or_else(|| Failure::Internal(format!("there is no arm {arm}")))
    }

    /// One verification: the receipt entry, whose record must say what was intended and whose outputs must be
    /// right, then the release entry on poisoned outputs, twice, since some faults come with the second launch.
    fn verify(&self, job: &VerifyJob) -> Result<Verified, Failure> {
        let arm = self.arm(job.arm)?;
        let layout = if job.fenced {
            Layout::Fences
        } else {
            Layout::Zones
        };
        let rig = Rig::new(&self.stream, &self.spec, &job.problem, job.seed, layout)
            .map_err(failure_of)?;
        let expected = read_expected(&job.expected)?;
        let mut verified = Verified {
            worst: 0.0,
            receipt: String::new(),
        };
        if let Some(nonce) = job.nonce {
            let receipt = rig
                .launch_for_receipt(&arm.receipt, &job.plan, nonce)
                .map_err(failure_of)?;
            let (symbol_hash, config_hash) = (arm.job.symbol_hash, arm.job.config_hash);
            let intended = ExpectedReceipt {
                nonce,
                symbol_hash,
                config_hash,
                plan: job.plan,
            };
            receipt
                .check(&intended)
                .map_err(|mismatch| wrong_launch(&mismatch))?;
            verified.worst = rig.check(&expected).map_err(failure_of)?;
            verified.receipt = receipt_text(&receipt);
        }
        for _ in 0..2 {
            rig.reset().map_err(failure_of)?;
            rig.launch(&arm.release, &job.plan).map_err(failure_of)?;
            verified.worst = verified
                .worst
                .max(rig.check(&expected).map_err(failure_of)?);
        }
        Ok(verified)
    }

    fn launch_once(
        &self,
        arm: usize,
        problem: &Problem,
        plan: &LaunchPlan,
        seed: u64,
    ) -> Result<Expected, Failure> {
        let rig =
            Rig::new(&self.stream, &self.spec, problem, seed, Layout::Zones).map_err(failure_of)?;
        rig.launch(&self.arm(arm)?.release, plan)
            .map_err(failure_of)?;
        rig.outputs().map_err(failure_of)
    }

    /// The outputs of the plain-Rust reference linked into this program.
    fn reference(&self, problem: &Problem, seed: u64) -> Result<Expected, Failure> {
        let reference = reference_of(self.catalogue, &self.spec).ok_or_else(|| {
            Failure::Internal(format!("no reference of `{}` is linked in", self.spec.name))
        })?;
        Expected::by_reference(reference, &self.spec, problem, seed)
            .map_err(|error| Failure::Internal(error.to_string()))
    }

    /// Warms every arm and finds out how many launches a sample of it takes.
    pub(super) fn warm(&mut self, replies: &mut impl Write) -> Result<Vec<(u32, u64)>, ArmFailure> {
        let resolution = Resolution {
            tick_ns: self.timer_tick_ns,
        };
        for place in 0..self.arms.len() {
            announce(replies, place)?;
            let (launches, launch_ns) = self
                .warm_arm(place, resolution)
                .map_err(|failure| (Some(place), failure))?;
            let job = &mut self.arms[place].job;
            (job.launches, job.launch_ns) = (launches, launch_ns);
        }
        Ok(self
            .arms
            .iter()
            .map(|arm| (arm.job.launches, arm.job.launch_ns))
            .collect())
    }

    fn warm_arm(&self, place: usize, resolution: Resolution) -> Result<(u32, u64), Failure> {
        let arm = self.arm(place)?;
        if arm.job.launch_ns >= COLD_ENOUGH_NS {
            return Ok((arm.job.launches, arm.job.launch_ns));
        }
        let start = Instant::now();
        let mut probe = self.time(arm, 1)?;
        for _ in 1..WARM_LAUNCHES {
            if start.elapsed() >= WARM_TIME {
                break;
            }
            probe = self.time(arm, 1)?;
        }
        if arm.job.launches > 0 {
            // An earlier process found out; all processes take samples of the same length.
            return Ok((arm.job.launches, probe.launch_ns()));
        }
        self.pace(arm, probe, resolution)
    }

    /// How many launches a sample of an arm takes, and the time of one, from a first probe on.
    fn pace(
        &self,
        arm: &LoadedArm,
        mut probe: Sample,
        resolution: Resolution,
    ) -> Result<(u32, u64), Failure> {
        let too_short = || {
            Failure::LaunchRefused("too short to be timed: the clock does not resolve it".into())
        };
        loop {
            let launches = launches_per_sample(&probe, resolution).ok_or_else(too_short)?;
            if launches > probe.launches || probe.span_ns < resolution.least_ns() {
                probe = self.time(arm, launches.max(probe.launches))?;
                continue;
            }
            if probe.span_ns >= AMPLE * resolution.least_ns() {
                return Ok((probe.launches, probe.launch_ns()));
            }
            // A probe that something else slowed down would make every sample of an undisturbed launch too short.
            let fastest = self.fastest(arm, probe)?;
            let launches = launches_per_sample(&fastest, resolution).ok_or_else(too_short)?;
            if launches <= fastest.launches {
                return Ok((fastest.launches, fastest.launch_ns()));
            }
            probe = self.time(arm, launches)?;
        }
    }

    /// The fastest of a probe and a few more like it.
    fn fastest(&self, arm: &LoadedArm, probe: Sample) -> Result<Sample, Failure> {
        let mut fastest = probe;
        for _ in 1..PROBES {
            let again = self.time(arm, probe.launches)?;
            if again.span_ns < fastest.span_ns {
                fastest = again;
            }
        }
        Ok(fastest)
    }

    fn rig(&self) -> Result<&Rig, Failure> {
        self.timing
            .as_ref()
            .ok_or_else(|| Failure::Internal("nothing was opened for timing".into()))
    }

    /// One sample, on data as it was made.
    fn time(&self, arm: &LoadedArm, launches: u32) -> Result<Sample, Failure> {
        let rig = self.rig()?;
        if self
            .spec
            .slices()
            .any(|slice| slice.access == Access::InOut)
        {
            rig.restore(launches).map_err(failure_of)?;
        }
        let span_ns = rig
            .time(&arm.release, &arm.job.plan, launches)
            .map_err(failure_of)?;
        Ok(Sample::new(span_ns, launches))
    }

    fn sample(
        &self,
        schedule: &[usize],
        replies: &mut impl Write,
    ) -> Result<Vec<Sample>, ArmFailure> {
        let mut samples = Vec::with_capacity(schedule.len());
        for &place in schedule {
            let arm = self.arm(place).map_err(|failure| (None, failure))?;
            announce(replies, place)?;
            samples.push(
                self.time(arm, arm.job.launches.max(1))
                    .map_err(|failure| (Some(place), failure))?,
            );
        }
        Ok(samples)
    }

    fn host_pace(
        &self,
        arm: usize,
        launches: u32,
        pairs: usize,
    ) -> Result<Option<Vec<HostPace>>, Failure> {
        let (rig, arm) = (self.rig()?, self.arm(arm)?);
        match rig.host_pace(&arm.release, &arm.job.plan, launches, pairs) {
            Ok(measured) => Ok(Some(measured)),
            Err(RigError::Device(DeviceError::Unsupported { .. })) => Ok(None),
            Err(error) => Err(failure_of(error)),
        }
    }

    /// What was timed must still compute what it should: some faults come with the tenth launch.
    fn recheck(
        &self,
        arms: &[usize],
        expected: &std::path::Path,
        replies: &mut impl Write,
    ) -> Result<(), ArmFailure> {
        let expected = read_expected(expected).map_err(|failure| (None, failure))?;
        for &place in arms {
            let arm = self.arm(place).map_err(|failure| (None, failure))?;
            announce(replies, place)?;
            self.recheck_arm(arm, &expected)
                .map_err(|failure| (Some(place), failure))?;
        }
        Ok(())
    }

    fn recheck_arm(&self, arm: &LoadedArm, expected: &Expected) -> Result<(), Failure> {
        let rig = self.rig()?;
        rig.reset().map_err(failure_of)?;
        rig.launch(&arm.release, &arm.job.plan)
            .map_err(failure_of)?;
        rig.check(expected).map(|_| ()).map_err(failure_of)
    }
}

/// The plain-Rust reference of a kernel, if this program has one of the same arguments.
pub fn reference_of(catalogue: &[&'static Kernel], spec: &KernelSpec) -> Option<kiln::ReferenceFn> {
    let same = |kernel: &&&Kernel| kernel.name() == spec.name && kernel.spec().args == spec.args;
    catalogue.iter().find(same)?.reference()
}

fn load(stream: &Stream, job: &ArmJob) -> Result<LoadedArm, Failure> {
    let internal = |text: String| Failure::Internal(format!("{}: {text}", job.artifact.display()));
    let image = std::fs::read(&job.artifact).map_err(|error| internal(error.to_string()))?;
    let build = if job.check {
        BuildKind::Check
    } else {
        BuildKind::Release
    };
    let device = stream.device();
    let artifact = Artifact::new(
        device.info().key.backend,
        &job.target,
        build,
        image,
        String::new(),
    );
    if artifact.hash != job.artifact_hash {
        let text = format!(
            "artifact is {}, {} was meant",
            artifact.hash, job.artifact_hash
        );
        return Err(Failure::WrongLaunch {
            field: "artifact".into(),
            want: job.artifact_hash.to_string(),
            got: text,
        });
    }
    let failed = |error: kiln::DeviceError| failure_of(error.into());
    let module = device.load(&artifact).map_err(failed)?;
    let release = module.clone().function(&job.release).map_err(failed)?;
    let receipt = module.function(&job.receipt).map_err(failed)?;
    Ok(LoadedArm {
        job: job.clone(),
        release,
        receipt,
    })
}

/// Says which arm is about to be launched, so that the parent knows whom to blame.
fn announce(replies: &mut impl Write, arm: usize) -> Result<(), ArmFailure> {
    let told = frame::write(replies, &Reply::Launching { arm });
    told.map_err(|error| {
        (
            None,
            Failure::Internal(format!("the parent is gone: {error}")),
        )
    })
}

fn wrong_launch(mismatch: &kiln::receipt::ReceiptMismatch) -> Failure {
    Failure::WrongLaunch {
        field: "receipt".into(),
        want: "the intended launch".into(),
        got: mismatch.to_string(),
    }
}

/// A receipt in words, for records; without the nonce, which is of no use later.
fn receipt_text(receipt: &kiln::receipt::Receipt) -> String {
    format!(
        "symbol {:016x} config {:016x} block {:?} grid {:?} shared {} threads {}",
        receipt.symbol_hash,
        receipt.config_hash,
        receipt.block,
        receipt.grid,
        receipt.dynamic_shared_bytes,
        receipt.threads
    )
}
