//! A kernel of the library on the cpu device, against its plain-Rust reference: configs from all over its space, every
//! element type, problems of every ragged class; release and check builds, and threads in both orders.

use std::sync::Arc;
use std::time::Instant;

use kiln::compiler::BuildKind;
use kiln::device::Schedule;
use kiln::prepare::{Prepared, compile, generate, load};
use kiln::rig::{Expected, Layout, Rig};
use kiln::spec::space::{SearchSpace, verification_problems};
use kiln::spec::{Backend, Config, DeviceLimits, LaunchPlan, Problem, ProblemValue};
use kiln::{Kernel, Stream};
use kiln_tests::capability::{Need, have, in_full};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// A kernel under test on a device.
struct Subject {
    kernel: &'static Kernel,
    stream: Stream,
    limits: DeviceLimits,
    launches: usize,
}

/// A config of it, or its baseline, compiled and loaded.
struct Built<'a> {
    config: Option<&'a Config>,
    build: BuildKind,
    prepared: Prepared,
}

/// Verifies the baseline and configs of every element type: the first and the last of the space, and random ones.
pub fn verify(test: &str, kernel: &'static Kernel) {
    if !have(test, &[Need::HostCompiler]) {
        return;
    }
    let start = Instant::now();
    let device = kiln::open("cpu").expect("the cpu device is always there");
    let limits = device.info().limits;
    let stream = Stream::default_of(device);
    let mut subject = Subject {
        kernel,
        stream,
        limits,
        launches: 0,
    };
    let mut configs = 0;
    for like in of_each_type(kernel) {
        let drawn = subject.configs(like);
        for config in drawn.iter().map(Some).chain([None]) {
            for build in [BuildKind::Release, BuildKind::Check] {
                subject.verify_build(like, config, build);
            }
            configs += 1;
        }
    }
    println!(
        "{}: {configs} configs right in {} launches, {:.1?}",
        kernel.name(),
        subject.launches,
        start.elapsed()
    );
}

/// The first problem of every choice of element types.
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
    fn configs(&self, like: &Problem) -> Vec<Config> {
        let spec = self.kernel.spec();
        let space = SearchSpace::build(spec, like, &self.limits)
            .unwrap_or_else(|error| panic!("{} ({like}): {error}", spec.name));
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let random = if in_full() { 64 } else { 1 };
        let places = [0, space.len() - 1]
            .into_iter()
            .chain((0..random).map(|_| rng.random_range(0..space.len())));
        let mut configs: Vec<Config> = places.map(|place| space.config(place)).collect();
        configs.dedup();
        configs
    }

    fn verify_build(&mut self, like: &Problem, config: Option<&Config>, build: BuildKind) {
        let spec = self.kernel.spec();
        let (entry, values) = match config {
            Some(config) => (&spec.entry, config),
            None => (&spec.baseline.entry, &spec.baseline.config),
        };
        let device = &**self.stream.device();
        let unit = generate(self.kernel, entry, values, like, Backend::Cpu)
            .unwrap_or_else(|error| panic!("{entry} {values}: {error}"));
        let artifact = compile(device, &unit, build)
            .unwrap_or_else(|error| panic!("{entry} {values}: {error}"));
        let built = Built {
            config,
            build,
            prepared: load(device, &unit, &artifact)
                .unwrap_or_else(|error| panic!("{entry} {values}: {error}")),
        };
        let problems =
            verification_problems(spec, std::slice::from_ref(values), like, Some(&self.limits));
        assert!(
            !problems.is_empty(),
            "{entry} {values} has no problem to be verified on"
        );
        for problem in &problems {
            self.verify_problem(&built, problem);
        }
    }

    fn verify_problem(&mut self, built: &Built<'_>, problem: &Problem) {
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
        self.launches += built.launch(&rig, &plan, &expected, problem);
    }
}

impl Built<'_> {
    fn name(&self) -> String {
        let config = self
            .config
            .map_or_else(|| "the baseline".into(), ToString::to_string);
        format!("{config}, {:?} build", self.build)
    }

    /// Launches each entry and each order of threads there is; every output must be right. Gives how many launches.
    fn launch(
        &self,
        rig: &Rig,
        plan: &LaunchPlan,
        expected: &Expected,
        problem: &Problem,
    ) -> usize {
        let right = |how: &str, launched: Result<(), kiln::rig::RigError>| {
            if let Err(error) = launched.and_then(|()| rig.check(expected).map(|_| ())) {
                panic!("{}, {problem}, {how}: {error}", self.name());
            }
        };
        right("forwards", rig.launch(&self.prepared.release, plan));
        if self.build == BuildKind::Check {
            let others = [Schedule::Reversed, Schedule::Seeded(1)];
            for schedule in others {
                let launched = rig
                    .reset()
                    .and_then(|()| rig.launch_scheduled(&self.prepared.release, plan, schedule));
                right(&schedule.to_string(), launched);
            }
            return 1 + others.len();
        }
        let receipt = rig
            .reset()
            .and_then(|()| rig.launch_for_receipt(&self.prepared.receipt, plan, 99));
        let receipt = receipt.unwrap_or_else(|error| panic!("{}: {error}", self.name()));
        right("its receipt entry", Ok(()));
        assert_eq!(receipt.nonce, 99);
        assert_eq!(receipt.symbol_hash, self.prepared.symbol_hash);
        assert_eq!((receipt.block, receipt.grid), (plan.block, plan.grid));
        2
    }
}
