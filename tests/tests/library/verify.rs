//! Compares a kernel of the library with its plain-Rust reference, on the test device. The tests cover configs from the
//! whole search space, every element type, and problems with every kind of incomplete tile. On the cpu they also cover
//! check builds, and both orders of threads.

use std::sync::Arc;
use std::time::Instant;

use kiln::compiler::BuildKind;
use kiln::device::Schedule;
use kiln::prepare::{Prepared, compile, generate, load};
use kiln::receipt::ExpectedReceipt;
use kiln::rig::{Expected, Layout, Rig, RigError};
use kiln::spec::space::SearchSpace;
use kiln::spec::verification::problems_of_config;
use kiln::spec::{Config, DeviceLimits, LaunchPlan, Problem, ProblemValue};
use kiln::{DeviceError, Kernel, Stream};
use kiln_tests::capability::{Need, have};
use kiln_tests::test_device;

use crate::configs::{self, Wanted};

/// The nonce of every receipt.
const NONCE: u64 = 99;

/// A kernel under test on a device.
struct Subject {
    kernel: &'static Kernel,
    stream: Stream,
    limits: DeviceLimits,
    launches: usize,
}

/// A config of the kernel, or its baseline, compiled and loaded.
struct Built<'a> {
    config: Option<&'a Config>,
    build: BuildKind,
    prepared: Prepared,
}

/// Why a device cannot launch a config: it exceeds a resource.
struct Refused(String);

/// Verifies the baseline and other configs, for every element type.
pub fn verify(test: &str, kernel: &'static Kernel) {
    if let Some(stream) = test_device::stream(test) {
        verify_on(stream, kernel);
    }
}

/// Verifies the same configs on a simulated GPU, if the compiler for its images is installed.
pub fn verify_simulated(test: &str, kernel: &'static Kernel, arch: &str, compiler: Need) {
    if have(test, &[compiler]) {
        let device = kiln::open(&format!("sim:{arch}"));
        let device = device.unwrap_or_else(|error| panic!("{test}: {error}"));
        verify_on(Stream::default_of(device), kernel);
    }
}

/// Verifies configs whose products are computed by warpgroups, on a simulated H100.
pub fn verify_warpgroups(test: &str, kernel: &'static Kernel) {
    if !have(test, &[Need::Nvrtc]) {
        return;
    }
    let stream = Stream::default_of(kiln::open("sim:sm_90").expect("a simulated H100"));
    let mut subject = Subject {
        kernel,
        limits: stream.device().info().limits,
        stream,
        launches: 0,
    };
    let mut verified = 0;
    for like in of_each_type(kernel) {
        let space = SearchSpace::build(kernel.spec(), like, &subject.limits)
            .unwrap_or_else(|error| panic!("{like}: {error}"));
        for wanted in configs::of_warpgroups(&space) {
            subject.verify_first(like, &wanted);
            verified += 1;
        }
    }
    assert!(verified >= 4, "only {verified} configs");
    println!(
        "{}: {verified} configs of warpgroups right in {} launches",
        kernel.name(),
        subject.launches
    );
}

fn verify_on(stream: Stream, kernel: &'static Kernel) {
    let start = Instant::now();
    let mut subject = Subject {
        kernel,
        limits: stream.device().info().limits,
        stream,
        launches: 0,
    };
    let mut verified = Vec::new();
    for like in of_each_type(kernel) {
        for wanted in subject.configs(like) {
            subject.verify_first(like, &wanted);
            verified.push(wanted.why);
        }
        if let Err(Refused(why)) = subject.verify_builds(like, None) {
            panic!("{}: the baseline: {why}", kernel.name());
        }
        verified.push("the baseline");
    }
    println!(
        "{}: {} configs right ({}) in {} launches on {}, {:.1?}",
        kernel.name(),
        verified.len(),
        verified.join("; "),
        subject.launches,
        subject.stream.device().info().key,
        start.elapsed()
    );
}

/// The first problem for each combination of element types.
pub fn of_each_type(kernel: &'static Kernel) -> Vec<&'static Problem> {
    let types = |problem: &Problem| -> Vec<ProblemValue> {
        let types = problem.iter().map(|(_, value)| value);
        types
            .filter(|value| matches!(value, ProblemValue::Type(_)))
            .collect()
    };
    let mut firsts: Vec<&Problem> = Vec::new();
    for problem in &kernel.spec().problems {
        if firsts.iter().all(|first| types(first) != types(problem)) {
            firsts.push(problem);
        }
    }
    firsts
}

impl Subject {
    fn configs(&self, like: &Problem) -> Vec<Wanted> {
        let spec = self.kernel.spec();
        let space = SearchSpace::build(spec, like, &self.limits)
            .unwrap_or_else(|error| panic!("{} ({like}): {error}", spec.name));
        let device = &**self.stream.device();
        match test_device::is_cpu(device) {
            true => configs::on_cpu(&space),
            false => configs::on_gpu(&space, device.info().is_simulated),
        }
    }

    /// Verifies the first candidate that the device can launch.
    fn verify_first(&mut self, like: &Problem, wanted: &Wanted) {
        let mut refusals = Vec::new();
        for config in &wanted.candidates {
            match self.verify_builds(like, Some(config)) {
                Ok(()) => return,
                Err(Refused(why)) => refusals.push(why),
            }
        }
        panic!(
            "{} ({like}): no config for \"{}\" can be launched:\n{}",
            self.kernel.name(),
            wanted.why,
            refusals.join("\n")
        );
    }

    /// Verifies a config, or the baseline, in every kind of build that the device can launch.
    fn verify_builds(&mut self, like: &Problem, config: Option<&Config>) -> Result<(), Refused> {
        for &build in test_device::builds(&**self.stream.device()) {
            self.verify_build(like, config, build)?;
        }
        Ok(())
    }

    fn verify_build(
        &mut self,
        like: &Problem,
        config: Option<&Config>,
        build: BuildKind,
    ) -> Result<(), Refused> {
        let spec = self.kernel.spec();
        let (entry, values) = match config {
            Some(config) => (&spec.entry, config),
            None => (&spec.baseline.entry, &spec.baseline.config),
        };
        let device = &**self.stream.device();
        let dialect = test_device::dialect(device);
        let unit = generate(self.kernel, entry, values, like, dialect)
            .unwrap_or_else(|error| panic!("{entry} {values}: {error}"));
        let artifact = compile(device, &unit, build)
            .unwrap_or_else(|error| panic!("{entry} {values}: {error}"));
        let built = Built {
            config,
            build,
            prepared: load(device, &unit, &artifact)
                .unwrap_or_else(|error| panic!("{entry} {values}: {error}")),
        };
        let problems = problems_of_config(spec, values, like, Some(&self.limits));
        assert!(
            !problems.is_empty(),
            "{entry} {values} has no problem to be verified on"
        );
        for problem in &problems {
            self.verify_problem(&built, problem)?;
        }
        Ok(())
    }

    fn verify_problem(&mut self, built: &Built<'_>, problem: &Problem) -> Result<(), Refused> {
        let spec = Arc::new(self.kernel.spec().clone());
        let plan = match built.config {
            Some(config) => spec.plan(config, problem, Some(&self.limits)),
            None => spec.baseline_plan(problem, Some(&self.limits)),
        };
        let plan = plan.unwrap_or_else(|error| panic!("{}: {error}", built.name()));
        let reference = self.kernel.reference();
        let reference = reference.expect("every kernel of the library has a reference");
        let expected = Expected::by_reference(reference, &spec, problem, 7)
            .unwrap_or_else(|error| panic!("{problem}: {error}"));
        let rig = Rig::new(&self.stream, &spec, problem, 7, Layout::Fences)
            .unwrap_or_else(|error| panic!("{problem}: {error}"));
        let is_simulated = self.stream.device().info().is_simulated;
        self.launches += built.launch(&rig, &plan, &expected, problem, is_simulated)?;
        Ok(())
    }
}

impl Built<'_> {
    fn name(&self) -> String {
        let config = self
            .config
            .map_or_else(|| "the baseline".into(), ToString::to_string);
        format!("{config}, {:?} build", self.build)
    }

    /// Launches each entry in each order of threads. Every output and every receipt must be right. Returns the number
    /// of launches.
    fn launch(
        &self,
        rig: &Rig,
        plan: &LaunchPlan,
        expected: &Expected,
        problem: &Problem,
        is_simulated: bool,
    ) -> Result<usize, Refused> {
        let wrong = |how: &str, error: &dyn std::fmt::Display| -> ! {
            panic!("{}, {problem}, {how}: {error}", self.name())
        };
        let right = |how: &str, launched: Result<(), RigError>| {
            if let Err(error) = launched.and_then(|()| rig.check(expected).map(|_| ())) {
                wrong(how, &error);
            }
        };
        let launched = rig.launch(&self.prepared.release, plan);
        if let Err(error) = &launched
            && self.is_too_large(error)
        {
            return Err(Refused(format!("{}: {error}", self.name())));
        }
        right("forwards", launched);
        if self.build == BuildKind::Check || is_simulated {
            let others = [Schedule::Reversed, Schedule::Seeded(1)];
            for schedule in others {
                let launched = rig
                    .reset()
                    .and_then(|()| rig.launch_scheduled(&self.prepared.release, plan, schedule));
                right(&schedule.to_string(), launched);
            }
            if self.build == BuildKind::Check {
                return Ok(1 + others.len());
            }
        }
        let receipt = rig
            .reset()
            .and_then(|()| rig.launch_for_receipt(&self.prepared.receipt, plan, NONCE));
        let receipt = receipt.unwrap_or_else(|error| wrong("its receipt entry", &error));
        right("its receipt entry", Ok(()));
        let intended = ExpectedReceipt {
            nonce: NONCE,
            symbol_hash: self.prepared.symbol_hash,
            config_hash: self.prepared.config_hash,
            plan: *plan,
        };
        if let Err(mismatch) = receipt.check(&intended) {
            wrong("its receipt", &mismatch);
        }
        Ok(2)
    }

    /// Whether a launch was rejected because the config exceeds a resource. For configs of a search space, only
    /// compiling shows this.
    fn is_too_large(&self, error: &RigError) -> bool {
        self.config.is_some()
            && matches!(error, RigError::Device(DeviceError::LaunchRefused { .. }))
    }
}
