//! A session on one device, in which `tune bench` and `tune compare` compile, verify and time kernels.

use std::path::Path;

use kiln::compiler::BuildKind;
use kiln::device::DeviceInfo;
use kiln::rig;
use kiln::{Kernel, device::DeviceBackend};
use kiln_cache::Outcome;
use kiln_spec::verification::problems_of_config;
use kiln_spec::{Backend, Config, DeviceKey, KernelSpec, Problem};

use super::error::WatchError;
use crate::error::Failure;
use kiln_lab::candidate::outcome::of_worker_error;
use kiln_lab::candidate::{Compiled, Which, Workshop};
use kiln_lab::cases::Case;
use kiln_lab::device_session::DeviceSession;
use kiln_lab::footprint;
use kiln_lab::reference::{Expectations, Oracle, is_linked_in};
use kiln_lab::regime::Regime;
use kiln_lab::verify::{Proof, Verifier};
use kiln_lab::worker::{ArmJob, WorkerLimits};
use kiln_lab::{Bench, Site, WorkerLab};
use kiln_measure::confirm::RaceEstimate;
use kiln_measure::span::Resolution;
use kiln_measure::{ArmId, Fault, Lab, Opening};
use kiln_project::TunedKernel;

/// The settings that the sessions on all devices of a command share.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// The kernels whose plain-Rust references are linked in.
    pub catalogue: &'static [&'static Kernel],
    /// The cache folder, which contains the artifact cache.
    pub cache: &'a Path,
    /// The scratch folder of the command.
    pub folder: &'a Path,
    /// Cold or hot caches; `None` for the default of the device.
    pub regime: Option<Regime>,
    /// The seed of all random choices.
    pub seed: u64,
    /// The commands of the peers (other programs) against which kernels are timed.
    pub peers: &'a [String],
}

/// A session on one device, in which kernels can be compiled, verified and timed.
pub struct WatchSession<'a> {
    /// The name of the device on the command line.
    pub device: &'a str,
    /// The description of the device.
    pub info: &'a DeviceInfo,
    /// The workshop that compiles the kernels.
    pub workshop: Workshop<'a>,
    /// Whether timed launches begin with cold or hot caches.
    pub regime: Regime,
    /// The settings that all devices share.
    pub setting: Setting<'a>,
    worker: WorkerLimits,
}

/// Opens a session on a device and calls `act` with it.
///
/// # Errors
/// If the session cannot be opened, or `act` returns an error.
pub fn on<T>(
    setting: Setting<'_>,
    name: &str,
    device: &dyn DeviceBackend,
    act: impl FnOnce(&WatchSession<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let session = DeviceSession::open_for_timing(name, device, setting.cache)?;
    let info = session.info();
    act(&WatchSession {
        device: name,
        info,
        workshop: session.workshop(setting.folder),
        regime: setting
            .regime
            .unwrap_or_else(|| Regime::of_backend(info.key.backend)),
        setting,
        worker: session.worker.clone(),
    })
}

impl WatchSession<'_> {
    /// Whether the device is the cpu, on which a kernel's time is the CPU time of its threads.
    pub fn is_cpu(&self) -> bool {
        self.info.key.backend == Backend::Cpu
    }

    /// The resolution of the device's clock.
    pub fn resolution(&self) -> Resolution {
        Resolution {
            tick_ns: self.info.timer_tick_ns,
        }
    }

    /// The seed for a kernel and problem, which differs between kernels and problems.
    pub fn seed_of(&self, kernel: &TunedKernel, problem: &Problem) -> u64 {
        let name = format!("{} {} {problem}", kernel.package, kernel.spec.name);
        self.setting.seed ^ kiln_spec::Hash::of("watched", name.as_bytes()).short()
    }

    /// Prepares the verification of a kernel on a problem: the cases, and the expected outputs of each case, which are
    /// the same for all arms.
    ///
    /// # Errors
    /// If the data does not fit the device, or the expected outputs cannot be computed.
    pub fn scene<'s>(
        &'s self,
        kernel: &'s TunedKernel,
        problem: &'s Problem,
        config: &Config,
    ) -> Result<Scene<'s>, WatchError> {
        let spec = &kernel.spec;
        footprint::check(spec, problem, &self.info.limits)?;
        let site = Site {
            worker: &self.worker,
            device: self.device,
            info: self.info,
            regime: self.regime,
            // Verification uses this seed too, so the expected outputs of the timed launches already exist.
            seed: kiln_lab::cases::seeds(self.setting.seed)[0],
        };
        let bench = Bench::new(&site, kernel, problem);
        let limits = Some(&self.info.limits);
        let small = problems_of_config(spec, config, problem, limits);
        let cases = kiln_lab::cases::cases(&small, problem, self.setting.seed);
        let expected = Expectations::new(
            self.oracle(kernel, problem)?,
            bench.clone(),
            self.setting.folder,
        );
        for case in &cases {
            let plan = spec.baseline_plan(&case.problem, None);
            let plan = plan.map_err(WatchError::BaselinePlan)?;
            let made = expected.get(&case.problem, case.seed, plan);
            made.map_err(|error| WatchError::NotExpected(of_worker_error(&error)))?;
        }
        Ok(Scene {
            stage: self,
            spec,
            problem,
            bench,
            cases,
            expected,
        })
    }

    fn oracle(&self, kernel: &TunedKernel, problem: &Problem) -> Result<Oracle, WatchError> {
        let catalogue = self.setting.catalogue;
        if is_linked_in(catalogue, kernel, problem) {
            return Ok(Oracle::Rust);
        }
        let baseline = self
            .workshop
            .make(kernel, Which::Baseline, problem, BuildKind::Release);
        let baseline = baseline.map_err(WatchError::NoBaseline)?;
        let oracle = Oracle::of(
            catalogue,
            (kernel, problem),
            &self.workshop,
            self.device,
            &baseline.arm,
        );
        Ok(oracle?)
    }
}

/// A kernel and a problem, with the cases and expected outputs of their verification.
pub struct Scene<'a> {
    stage: &'a WatchSession<'a>,
    spec: &'a KernelSpec,
    problem: &'a Problem,
    bench: Bench,
    cases: Vec<Case>,
    expected: Expectations,
}

impl Scene<'_> {
    /// The settings that all workers of the scene share.
    pub(super) fn bench(&self) -> &Bench {
        &self.bench
    }

    /// Whether the outputs on the timed problem are compared with a reference, and not only with the kernel's own
    /// baseline.
    pub fn has_reference(&self) -> bool {
        use kiln_cache::record::ReferenceGrade;
        let grade = self.expected.grade();
        matches!(
            grade,
            ReferenceGrade::Reference | ReferenceGrade::ReferenceEntry
        )
    }

    /// Verifies a compiled kernel on every case: its outputs must be right, and the device's receipts must match the
    /// intended launch. `spec` is the kernel's own declaration, saved or current.
    ///
    /// # Errors
    /// The outcome if the verification fails.
    pub fn verify(&self, spec: &KernelSpec, side: &Compiled) -> Result<Proof, Outcome> {
        let verifier = Verifier {
            bench: &self.bench,
            spec,
            expected: &self.expected,
            baseline_ns: 0,
        };
        let proof = verifier.verify(&side.arm, &self.cases);
        proof.map_err(|failed| failed.outcome)
    }

    /// The expected outputs of the timed launches.
    ///
    /// # Errors
    /// If the expected outputs cannot be computed or read.
    pub fn expected(&self) -> Result<rig::Expected, WatchError> {
        let path = self
            .expected
            .get(self.problem, self.timed_seed(), self.baseline_plan());
        let path = path.map_err(|error| WatchError::Outcome(of_worker_error(&error)))?;
        let bytes = std::fs::read(&path);
        let bytes = bytes.map_err(|error| WatchError::Unreadable { path, error })?;
        Ok(rig::Expected::from_bytes(&bytes)?)
    }

    /// Creates a lab that times verified arms (compiled kernels) in worker processes. A first process loads the arms,
    /// warms them up, and determines the number of launches per sample.
    ///
    /// # Errors
    /// If an arm cannot be loaded or launched.
    pub fn lab(&self, sides: &[&ArmJob]) -> Result<WorkerLab, Fault> {
        self.lab_of(sides, self.stage.resolution())
    }

    /// Like [`Self::lab`], with samples that are long enough for a clock of the specified resolution.
    ///
    /// # Errors
    /// The errors of [`Self::lab`].
    pub fn lab_of(&self, sides: &[&ArmJob], resolution: Resolution) -> Result<WorkerLab, Fault> {
        let outputs = self
            .expected
            .get(self.problem, self.timed_seed(), self.baseline_plan());
        let outputs = outputs.map_err(|error| Fault::unattributed(of_worker_error(&error)))?;
        let bench = Bench {
            timer_tick_ns: resolution.tick_ns,
            ..self.bench.clone()
        };
        let mut lab = WorkerLab::new(bench, outputs);
        let arms: Vec<ArmId> = sides.iter().map(|side| lab.add((*side).clone())).collect();
        let opening = Opening {
            load: arms.clone(),
            allocate: arms.clone(),
        };
        lab.open(&opening)?;
        let slowest_ns = arms.iter().map(|&arm| lab.launch_ns(arm)).max();
        lab.set_baseline_ns(slowest_ns.unwrap_or(0).max(1));
        Ok(lab)
    }

    /// The seed of the inputs of timed launches.
    pub fn timed_seed(&self) -> u64 {
        self.bench.seed
    }

    fn baseline_plan(&self) -> kiln_spec::LaunchPlan {
        let plan = self.spec.baseline_plan(self.problem, None);
        plan.unwrap_or(kiln_spec::LaunchPlan {
            grid: [1; 3],
            block: [1; 3],
            shared_bytes: 0,
        })
    }
}

/// Whether kernels that were saved on one device may be compared on another device. The backend and the architecture
/// must be the same. For the cpu, the same family of processors is enough, because both sides are compiled for the
/// current processor, and because hosted CI runners differ in their instruction sets.
pub fn is_of_kind(then: &DeviceKey, now: &DeviceKey) -> bool {
    let family = |key: &DeviceKey| match (key.backend, key.arch.split_once("-v")) {
        (Backend::Cpu, Some((family, _))) => family.to_owned(),
        _ => key.arch.clone(),
    };
    then.backend == now.backend && family(then) == family(now)
}

/// The expected ratio and sample durations of two arms of a lab.
pub fn expected(lab: &WorkerLab, defender: ArmId, challenger: ArmId) -> RaceEstimate {
    let (defender_ns, challenger_ns) = (
        lab.launch_ns(defender).max(1),
        lab.launch_ns(challenger).max(1),
    );
    RaceEstimate {
        ratio: challenger_ns as f64 / defender_ns as f64,
        defender_span_ns: lab.span_ns(defender),
        challenger_span_ns: lab.span_ns(challenger),
    }
}

/// The receipt of the timed problem as text, as the device wrote it.
pub fn receipt(proof: &Proof) -> String {
    proof.receipts.last().cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_of_a_kind_with_those_that_run_the_same_code() {
        let of_kind =
            |then: &str, now: &str| is_of_kind(&then.parse().unwrap(), &now.parse().unwrap());
        assert!(of_kind("cuda/sm_89/NVIDIA L4", "cuda/sm_89/NVIDIA L40S"));
        assert!(of_kind(
            "cpu/x86-64-v4/AMD EPYC",
            "cpu/x86-64-v3/Intel Xeon"
        ));
        assert!(!of_kind("cuda/sm_89/NVIDIA L4", "cuda/sm_86/NVIDIA A10"));
        assert!(!of_kind("cpu/x86-64-v3/AMD EPYC", "cpu/aarch64/Neoverse"));
        assert!(!of_kind(
            "cpu/x86-64-v3/AMD EPYC",
            "fake/x86-64-v3/AMD EPYC"
        ));
    }
}
