//! Runs each kernel on the test device, with configs from its whole search space, every element type, incomplete tiles
//! and several seeds. The release entry and the receipt entry both run in release builds and, on the cpu, also in check
//! builds.

use std::sync::Arc;

use kiln::prepare::{Prepared, compile, generate, load};
use kiln::receipt::ExpectedReceipt;
use kiln::rig::{Expected, Layout, Rig};
use kiln::spec::space::SearchSpace;
use kiln::spec::{Config, LaunchPlan, ParamValue, Problem};
use kiln::{Kernel, Stream};
use kiln_tests::capability::{Need, have, in_full};
use kiln_tests::test_device::{self, HIP_HOST, run_on};

use crate::{kernels, problems_by_type, stand_ins};

const SEEDS: [u64; 2] = [1, 20];

/// `count` of the `wanted` configs, evenly distributed over the search space. Each element type gets different configs.
fn configs(
    kernel: &'static Kernel,
    problem: &Problem,
    limits: &kiln::spec::DeviceLimits,
    wanted: impl Fn(&Config) -> bool,
    count: usize,
    turn: usize,
) -> Vec<Config> {
    let space = SearchSpace::build(kernel.spec(), problem, limits).unwrap();
    let all: Vec<Config> = (0..space.len())
        .map(|place| space.config(place))
        .filter(wanted)
        .collect();
    let step = (all.len() / count).max(1);
    let places = (0..count.min(all.len())).map(|i| (i * step + turn) % all.len());
    places.map(|place| all[place].clone()).collect()
}

fn launch(
    kernel: &'static Kernel,
    stream: &Stream,
    prepared: &Prepared,
    config: &Config,
    plan: &LaunchPlan,
    problem: &Problem,
) {
    let spec = Arc::new(kernel.spec().clone());
    for seed in SEEDS {
        let reference = kernel
            .reference()
            .expect("every kernel here should have a reference");
        let expected = Expected::by_reference(reference, &spec, problem, seed).unwrap();
        let rig = Rig::new(stream, &spec, problem, seed, Layout::Fences).unwrap();
        let check = |entry: &str| {
            if let Err(error) = rig.check(&expected) {
                panic!(
                    "{} {config}, {problem}, seed {seed}, {entry} entry: {error}",
                    kernel.name()
                );
            }
        };
        rig.launch(&prepared.release, plan).unwrap();
        check("release");
        rig.reset().unwrap();
        let receipt = rig
            .launch_for_receipt(&prepared.receipt, plan, seed)
            .unwrap();
        check("receipt");
        let intended = ExpectedReceipt {
            nonce: seed,
            symbol_hash: prepared.symbol_hash,
            config_hash: prepared.config_hash,
            plan: *plan,
        };
        receipt
            .check(&intended)
            .unwrap_or_else(|error| panic!("{} {config}, {problem}: {error}", kernel.name()));
    }
}

fn verify(test: &str, kernel: &'static Kernel, per_type: usize) {
    if let Some(stream) = test_device::stream(test) {
        let per_type = match stream.device().info().is_simulated && !in_full() {
            true => per_type.div_ceil(2),
            false => per_type,
        };
        verify_on(&stream, kernel, per_type, |_| true, "");
    }
}

/// Verifies `per_type` of the `wanted` configs for each element type. The text `first` is put at the start of each
/// unit.
fn verify_on(
    stream: &Stream,
    kernel: &'static Kernel,
    per_type: usize,
    wanted: impl Fn(&Config) -> bool,
    first: &str,
) {
    let device = stream.device();
    let builds = test_device::builds(&**device);
    let limits = device.info().limits;
    for (turn, problems) in problems_by_type(kernel).into_iter().enumerate() {
        let configs = configs(kernel, &problems[0], &limits, &wanted, per_type, turn);
        for (number, config) in configs.into_iter().enumerate() {
            let build = builds[(number + 1) % builds.len()];
            let mut unit = generate(
                kernel,
                &kernel.spec().entry,
                &config,
                &problems[0],
                test_device::dialect(&**device),
            )
            .unwrap();
            unit.text.insert_str(0, first);
            let artifact = compile(&**device, &unit, build)
                .unwrap_or_else(|error| panic!("{} {config}: {error}", kernel.name()));
            let prepared = load(&**device, &unit, &artifact).unwrap();
            // A config may be valid only for some problems, for example for rows of a known length.
            let mut fitting = problems.clone();
            fitting.retain(|problem| {
                let space = SearchSpace::build(kernel.spec(), problem, &limits).unwrap();
                space.index_of(&config).is_some()
            });
            assert!(!fitting.is_empty(), "{} {config}", kernel.name());
            for problem in &fitting {
                let plan = kernel.spec().plan(&config, problem, Some(&limits)).unwrap();
                launch(kernel, stream, &prepared, &config, &plan, problem);
            }
        }
    }
}

macro_rules! on_the_device {
    ($($name:ident: $kernel:ident, $per_type:literal;)*) => {
        on_the_device! { in kernels: $($name: $kernel, $per_type;)* }
    };
    (in $module:ident: $($name:ident: $kernel:ident, $per_type:literal;)*) => {$(
        #[test]
        fn $name() {
            verify(stringify!($name), &$module::$kernel::KERNEL, $per_type);
        }
    )*};
}

on_the_device! {
    vectors_of_every_width_move_wherever_they_lie: vectors, 4;
    products_of_vectors_of_every_width_add_up: products, 7;
    every_element_type_becomes_every_other_as_rust_rounds: convert, 6;
    unsigned_elements_become_every_other_as_rust_rounds: convert_unsigned, 3;
    lanes_exchange_and_combine_within_every_segment: warps, 2;
    every_lane_gets_the_same_bits_also_where_the_order_matters: ordered, 2;
    rows_of_any_number_of_threads_combine: blocks, 6;
    atomics_lose_nothing_in_global_and_in_shared_memory: atomics, 2;
    atomics_on_unsigned_elements_lose_nothing: atomics_unsigned, 2;
    copies_arrive_through_any_number_of_stages: copies, 4;
    dynamic_shared_memory_is_one_array_for_all_threads: reversed, 2;
    powers_of_two_are_as_exact_as_promised: exp2, 2;
    tiles_multiply_in_every_layout: tiles, 8;
    every_element_of_a_tile_is_held_by_a_lane: tile_maps, 2;
    a_product_of_tiles_goes_on_in_registers: tile_chain, 6;
    the_example_of_the_page_normalises_rows: rms_norm, 4;
    the_matrix_product_of_the_page_is_right: matmul, 4;
}

on_the_device! { in stand_ins:
    cooperative_groups_exchange_and_combine: groups, 2;
    collectives_of_cub_reduce_and_scan: collectives, 2;
    collectives_of_cub_move_sort_count_and_compare: sorting, 3;
    headers_that_kernels_include_by_habit_have_what_they_use: library, 2;
    standard_functions_and_curand_are_right_without_their_headers: standard, 1;
    fragments_of_wmma_multiply_in_every_shape: fragments, 3;
    cudas_own_functions_of_a_warp_take_values_of_8_bytes_and_parts_of_a_warp: lanes, 1;
}

#[test]
fn tiles_laid_out_as_on_gfx11_are_right_on_the_cpu() {
    let test = "tiles_laid_out_as_on_gfx11_are_right_on_the_cpu";
    if !have(test, &[Need::HostCompiler]) {
        return;
    }
    let stream = Stream::default_of(kiln::open("cpu").unwrap());
    let by_tiles = |config: &Config| {
        config
            .get("TILES")
            .is_none_or(|tiles| *tiles == ParamValue::Int(1))
    };
    let of_the_header: [(&'static Kernel, usize); 5] = [
        (&kernels::matmul::KERNEL, 3),
        (&kernels::tiles::KERNEL, 6),
        (&kernels::tile_maps::KERNEL, 1),
        (&kernels::tile_chain::KERNEL, 6),
        (&stand_ins::fragments::KERNEL, 1),
    ];
    let of_the_library: [(&'static Kernel, usize); 3] = [
        (&kiln_kernels::gemm_f16::KERNEL, 3),
        (&kiln_kernels::conv3x3::KERNEL, 2),
        (&kiln_kernels::flash_attention::KERNEL, 4),
    ];
    // The kernels of the library are also launched on the simulated gfx1151.
    let of_the_library = of_the_library.into_iter().filter(|_| in_full());
    for (kernel, per_type) in of_the_header.into_iter().chain(of_the_library) {
        let per_type = if in_full() { per_type } else { 1 };
        let first = "#define KILN_CPU_TILES_OF_GFX11 1\n";
        verify_on(&stream, kernel, per_type, by_tiles, first);
    }
}

/// The tests that run on simulated GPUs. The shapes of `nvcuda::wmma` run only on AMD's, because PTX has separate
/// instructions for them, which the simulator does not implement.
const SIMULATED: [&str; 20] = [
    "on_device::a_product_of_tiles_goes_on_in_registers",
    "on_device::atomics_on_unsigned_elements_lose_nothing",
    "on_device::atomics_lose_nothing_in_global_and_in_shared_memory",
    "on_device::collectives_of_cub_move_sort_count_and_compare",
    "on_device::collectives_of_cub_reduce_and_scan",
    "on_device::cooperative_groups_exchange_and_combine",
    "on_device::cudas_own_functions_of_a_warp_take_values_of_8_bytes_and_parts_of_a_warp",
    "on_device::copies_arrive_through_any_number_of_stages",
    "on_device::dynamic_shared_memory_is_one_array_for_all_threads",
    "on_device::every_element_of_a_tile_is_held_by_a_lane",
    "on_device::every_element_type_becomes_every_other_as_rust_rounds",
    "on_device::every_lane_gets_the_same_bits_also_where_the_order_matters",
    "on_device::lanes_exchange_and_combine_within_every_segment",
    "on_device::powers_of_two_are_as_exact_as_promised",
    "on_device::products_of_vectors_of_every_width_add_up",
    "on_device::rows_of_any_number_of_threads_combine",
    "on_device::standard_functions_and_curand_are_right_without_their_headers",
    "on_device::tiles_multiply_in_every_layout",
    "on_device::unsigned_elements_become_every_other_as_rust_rounds",
    "on_device::vectors_of_every_width_move_wherever_they_lie",
];

fn assert_right_on(device: &str, tests: &[&str]) {
    let output = run_on(device, tests);
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{errors}");
    assert!(said.contains(&format!("{} passed", tests.len())), "{said}");
}

#[test]
fn the_header_works_on_a_simulated_gfx1151() {
    if have("the_header_works_on_a_simulated_gfx1151", &[Need::AmdClang]) {
        let shapes = ["on_device::fragments_of_wmma_multiply_in_every_shape"];
        assert_right_on("sim:gfx1151", &[&SIMULATED[..], &shapes].concat());
    }
}

#[test]
fn the_header_works_on_a_simulated_sm_86() {
    if have("the_header_works_on_a_simulated_sm_86", &[Need::Nvrtc]) {
        assert_right_on("sim:sm_86", &SIMULATED);
    }
}

#[test]
fn the_header_works_through_the_hip_backend_on_the_host_processor() {
    let test = "the_header_works_through_the_hip_backend_on_the_host_processor";
    if !have(test, &[Need::HostCompiler]) {
        return;
    }
    let tests = [
        "on_device::fragments_of_wmma_multiply_in_every_shape",
        "on_device::copies_arrive_through_any_number_of_stages",
        "on_device::dynamic_shared_memory_is_one_array_for_all_threads",
    ];
    let output = run_on(HIP_HOST, &tests);
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{errors}");
    assert!(said.contains("3 passed"), "{said}");
}
