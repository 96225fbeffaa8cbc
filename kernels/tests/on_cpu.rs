//! The kernels on the cpu device: configs from every corner of their spaces against the references, on sizes
//! of every ragged class, in release and in check builds.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use std::sync::Arc;

use kiln::compiler::BuildKind;
use kiln::device::Device;
use kiln::prepare::{Prepared, compile, generate, load};
use kiln::rig::{Expected, Layout, Rig};
use kiln::spec::space::{SearchSpace, verification_problems};
use kiln::spec::{Config, KernelSpec, LaunchPlan, Problem};
use kiln::{Kernel, Stream};

/// A stream of the cpu device, where there is a compiler; says so where there is none.
fn stream() -> Option<Stream> {
    let device = kiln::open("cpu").expect("the cpu device is always there");
    if let Err(error) = device.compiler() {
        assert!(
            std::env::var_os("CI").is_none(),
            "no compiler, but CI is set: {error}"
        );
        eprintln!("skipped: {error}");
        return None;
    }
    Some(Stream::default_of(device))
}

/// Compiles an entry with a config and loads it.
fn prepare(
    kernel: &'static Kernel,
    stream: &Stream,
    entry: &str,
    config: &Config,
    build: BuildKind,
) -> Prepared {
    let device = &**stream.device();
    let problem = &kernel.spec().problems[0];
    let unit = generate(kernel, entry, config, problem, device.info().key.backend).unwrap();
    let artifact =
        compile(device, &unit, build).unwrap_or_else(|error| panic!("{config}: {error}"));
    load(device, &unit, &artifact).unwrap()
}

/// The first and last config of the space, and some spread between them.
fn corners(spec: &KernelSpec, device: &dyn Device, count: usize) -> Vec<Config> {
    let space = SearchSpace::build(spec, &spec.problems[0], &device.info().limits).unwrap();
    let last = space.len() - 1;
    (0..count)
        .map(|i| space.config(last * i / (count - 1)))
        .collect()
}

/// Launches release and receipt entry on a problem and compares both with the reference.
fn verify(
    kernel: &'static Kernel,
    stream: &Stream,
    prepared: &Prepared,
    plan: &LaunchPlan,
    problem: &Problem,
    what: &str,
) {
    let spec = Arc::new(kernel.spec().clone());
    let reference = kernel.reference().expect("every kernel has a reference");
    let expected = Expected::by_reference(reference, &spec, problem, 7).unwrap();
    let rig = Rig::new(stream, &spec, problem, 7, Layout::Fences).unwrap();
    let check = |entry: &str| match rig.check(&expected) {
        Ok(_) => {}
        Err(error) => panic!("{entry} entry, {what}, {problem}: {error}"),
    };
    rig.launch(&prepared.release, plan).unwrap();
    check("release");
    rig.reset().unwrap();
    let receipt = rig.launch_for_receipt(&prepared.receipt, plan, 99).unwrap();
    check("receipt");
    assert_eq!(
        (receipt.nonce, receipt.symbol_hash),
        (99, prepared.symbol_hash),
        "{what}"
    );
    assert_eq!(
        (receipt.block, receipt.grid),
        (plan.block, plan.grid),
        "{what}"
    );
    assert_eq!(
        receipt.threads,
        plan.threads_per_block() * plan.blocks(),
        "{what}"
    );
}

fn verify_corners(kernel: &'static Kernel, count: usize) {
    let Some(stream) = stream() else { return };
    let (spec, device) = (kernel.spec(), &**stream.device());
    let limits = device.info().limits;
    for build in [BuildKind::Release, BuildKind::Check] {
        for config in corners(spec, device, count) {
            let prepared = prepare(kernel, &stream, &spec.entry, &config, build);
            let problems = verification_problems(
                spec,
                std::slice::from_ref(&config),
                &spec.problems[0],
                Some(&limits),
            );
            assert!(
                !problems.is_empty(),
                "{config} has no problem to be verified on"
            );
            for problem in problems {
                let plan = spec.plan(&config, &problem, Some(&limits)).unwrap();
                verify(
                    kernel,
                    &stream,
                    &prepared,
                    &plan,
                    &problem,
                    &config.to_string(),
                );
            }
        }
        let config = &spec.baseline.config;
        let prepared = prepare(kernel, &stream, &spec.baseline.entry, config, build);
        for problem in verification_problems(
            spec,
            std::slice::from_ref(config),
            &spec.problems[0],
            Some(&limits),
        ) {
            let plan = spec.baseline_plan(&problem, Some(&limits)).unwrap();
            verify(kernel, &stream, &prepared, &plan, &problem, "baseline");
        }
    }
}

#[test]
fn every_corner_of_tensor_add_is_right() {
    verify_corners(&kiln_kernels::tensor_add::tensor_add::KERNEL, 5);
}

#[test]
fn every_corner_of_softmax_is_right() {
    verify_corners(&kiln_kernels::softmax::softmax::KERNEL, 6);
}

#[test]
fn every_corner_of_gemm_is_right() {
    verify_corners(&kiln_kernels::gemm::gemm::KERNEL, 7);
}

/// The config of these values, in the order of the kernel's parameters.
fn config_of(spec: &KernelSpec, values: &[i64]) -> Config {
    let params = spec.params.iter().map(|param| param.name.clone());
    Config::new(params.zip(values.iter().map(|&x| kiln::spec::ParamValue::Int(x))))
}

#[test]
fn a_micro_tile_makes_gemm_four_times_as_fast_as_one_output_a_thread() {
    let Some(stream) = stream() else { return };
    let kernel = &kiln_kernels::gemm::gemm::KERNEL;
    let spec = kernel.spec();
    let problem = &spec.problems[0];
    let rig = Rig::new(&stream, &Arc::new(spec.clone()), problem, 1, Layout::Plain).unwrap();
    let best_of = |entry: &str, config: &Config, plan: &LaunchPlan, launches: usize| {
        let prepared = prepare(kernel, &stream, entry, config, BuildKind::Release);
        let times = (0..launches).map(|_| rig.time(&prepared.release, plan, 1).unwrap());
        times.min().unwrap_or(u64::MAX)
    };
    let space = SearchSpace::build(spec, problem, &stream.device().info().limits).unwrap();
    let tuned = |values: &[i64], launches| {
        let config = config_of(spec, values);
        assert!(
            space.index_of(&config).is_some(),
            "{config} is not in the space"
        );
        best_of(
            &spec.entry,
            &config,
            &spec.plan(&config, problem, None).unwrap(),
            launches,
        )
    };
    let micro_tiles = [[64, 128, 32, 8, 16, 4, 1], [128, 64, 16, 4, 16, 4, 4]];
    let best = micro_tiles
        .iter()
        .map(|values| tuned(values, 3))
        .min()
        .unwrap_or(u64::MAX);
    let one_output = tuned(&[16, 16, 16, 1, 1, 1, 1], 1);
    let naive_plan = spec.baseline_plan(problem, None).unwrap();
    let naive = best_of(&spec.baseline.entry, &spec.baseline.config, &naive_plan, 1);
    assert!(
        one_output > 4 * best,
        "one output a thread {one_output} ns, micro-tiles {best} ns"
    );
    assert!(naive > 4 * best, "naive {naive} ns, micro-tiles {best} ns");
}
