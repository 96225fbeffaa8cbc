//! Gemm on the cpu device: measures the benefit of a micro-tile.

use std::sync::Arc;

use kiln::Stream;
use kiln::compiler::BuildKind;
use kiln::prepare::{compile, generate, load};
use kiln::rig::{Layout, Rig};
use kiln::spec::space::SearchSpace;
use kiln::spec::{Backend, Config, KernelSpec, LaunchPlan, ParamValue};
use kiln_tests::capability::{Need, have};

/// The config with these values, in the order of the kernel's parameters.
fn config_of(spec: &KernelSpec, values: &[i64]) -> Config {
    let params = spec.params.iter().map(|param| param.name.clone());
    Config::new(params.zip(values.iter().map(|&x| ParamValue::Int(x))))
}

/// CPU time of this process so far, in nanoseconds.
fn cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[test]
fn a_micro_tile_makes_gemm_four_times_as_fast_as_one_output_a_thread() {
    let name = "library a_micro_tile_makes_gemm_four_times_as_fast_as_one_output_a_thread";
    if !have(name, &[Need::HostCompiler]) {
        return;
    }
    let device = kiln::open("cpu").expect("the cpu device is always there");
    let stream = Stream::default_of(device);
    let kernel = &kiln_kernels::gemm::KERNEL;
    let spec = kernel.spec();
    let problem = &spec.problems[0];
    let rig = Rig::new(&stream, &Arc::new(spec.clone()), problem, 1, Layout::Plain).unwrap();
    let best_of = |entry: &str, config: &Config, plan: &LaunchPlan, launches: usize| {
        let device = &**stream.device();
        let unit = generate(kernel, entry, config, problem, Backend::Cpu).unwrap();
        let artifact = compile(device, &unit, BuildKind::Release).unwrap();
        let prepared = load(device, &unit, &artifact).unwrap();
        // The CPU time of all threads does not grow while other programs use the cores.
        let times = (0..launches).map(|_| {
            let start = cpu_ns();
            rig.launch(&prepared.release, plan).unwrap();
            cpu_ns() - start
        });
        times.min().unwrap_or(u64::MAX)
    };
    let space = SearchSpace::build(spec, problem, &stream.device().info().limits).unwrap();
    let tuned = |values: &[i64], launches| {
        let config = config_of(spec, values);
        assert!(
            space.index_of(&config).is_some(),
            "{config} is not in the space"
        );
        let plan = spec.plan(&config, problem, None).unwrap();
        best_of(&spec.entry, &config, &plan, launches)
    };
    let micro_tiles = [[64, 128, 32, 8, 16, 4, 1, 0], [128, 64, 16, 4, 16, 4, 4, 0]];
    let times = micro_tiles.iter().map(|values| tuned(values, 3));
    let best = times.min().unwrap_or(u64::MAX);
    let one_output = tuned(&[16, 16, 16, 1, 1, 1, 1, 0], 1);
    let naive_plan = spec.baseline_plan(problem, None).unwrap();
    let naive = best_of(&spec.baseline.entry, &spec.baseline.config, &naive_plan, 1);
    assert!(
        one_output > 4 * best,
        "one output a thread {one_output} ns, micro-tiles {best} ns"
    );
    assert!(naive > 4 * best, "naive {naive} ns, micro-tiles {best} ns");
}
