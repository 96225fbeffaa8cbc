//! Compiles kernels for every known target: the kernels of this test, the library's, and those of other tests.

use std::collections::BTreeSet;
use std::path::Path;

use kiln::Kernel;
use kiln::artifacts::{ArtifactCache, DEFAULT_MAX_BYTES};
use kiln::compile_only;
use kiln::compiler::{Artifact, CompileRequest};
use kiln::prepare::generate;
use kiln::spec::codegen::{Target, TranslationUnit};
use kiln::spec::parse::discover::{ModuleLayout, discover};
use kiln::spec::source::{SourceScan, SourceText};
use kiln::spec::space::SearchSpace;
use kiln::spec::targets::{KnownTarget, TARGETS};
use kiln::spec::{Backend, Config, KernelSpec, Problem};
use kiln_tests::capability::{Need, have, in_full};
use kiln_tests::command::shared_artifacts;
use rayon::prelude::*;

use crate::instructions::{Instruction, count};
use crate::{kernels, problems_by_type, stand_ins};

/// The compiler that the tests of a target need.
fn need(target: &KnownTarget) -> Need {
    match target.backend {
        Backend::Cuda => Need::Nvrtc,
        Backend::Hip => Need::AmdClang,
        Backend::Cpu | Backend::Fake => Need::HostCompiler,
    }
}

fn compile(target: &KnownTarget, unit: &TranslationUnit, what: &str) -> Artifact {
    let compiler = compile_only::compiler(target.arch).unwrap();
    let request = CompileRequest::new(unit.release.as_str(), unit.text.as_str());
    ArtifactCache::at(shared_artifacts(), DEFAULT_MAX_BYTES)
        .compile(&*compiler, target.backend, &request)
        .unwrap_or_else(|error| panic!("{what} for {}: {error}", target.arch))
}

fn contains(image: &[u8], text: &str) -> usize {
    let windows = image.windows(text.len());
    windows.filter(|part| *part == text.as_bytes()).count()
}

/// `count` configs for a target, evenly distributed over the search space.
fn configs(
    spec: &KernelSpec,
    problem: &Problem,
    target: &KnownTarget,
    count: usize,
) -> Vec<Config> {
    let space = SearchSpace::build(spec, problem, &target.limits).unwrap();
    let step = (space.len() / count).max(1);
    let places = (0..count.min(space.len())).map(|i| i * step + step / 2);
    places
        .map(|place| space.config(place % space.len()))
        .collect()
}

/// Runs a check for each known GPU whose compiler is installed, in parallel.
fn for_each_gpu(test: &str, check: impl Fn(&KnownTarget) + Sync) {
    std::thread::scope(|scope| {
        for target in TARGETS {
            if target.backend != Backend::Cpu && have(test, &[need(target)]) {
                scope.spawn(|| check(target));
            }
        }
    });
}

/// Compiles configs of a kernel and its baseline, for every element type. Except in full measurements, it uses only one
/// element type, which differs between GPUs.
fn compile_all(target: &KnownTarget, kernel: &'static Kernel, per_type: usize) {
    let spec = kernel.spec();
    let mut by_type = problems_by_type(kernel);
    if !in_full() {
        let place = TARGETS.iter().position(|known| known.arch == target.arch);
        let chosen = place.unwrap_or(0) % by_type.len();
        by_type = vec![by_type.swap_remove(chosen)];
    }
    let one = |entry: &str, config: &Config, problem: &Problem| {
        let unit = generate(kernel, entry, config, problem, target.backend).unwrap();
        let artifact = compile(target, &unit, &format!("{} {config}", kernel.name()));
        for symbol in [&unit.release, &unit.receipt] {
            assert!(
                contains(&artifact.image, symbol.as_str()) > 0,
                "{symbol} in {}",
                target.arch
            );
        }
    };
    for problems in by_type {
        for config in configs(spec, &problems[0], target, per_type) {
            one(&spec.entry, &config, &problems[0]);
        }
    }
    one(
        &spec.baseline.entry,
        &spec.baseline.config,
        &spec.problems[0],
    );
}

#[test]
fn every_use_of_the_device_api_compiles_for_every_target() {
    for_each_gpu(
        "every_use_of_the_device_api_compiles_for_every_target",
        |target| {
            let place = TARGETS.iter().position(|known| known.arch == target.arch);
            let all = kernels::ALL.iter().chain(stand_ins::ALL).enumerate();
            // Except in full measurements, only every second kernel is compiled for a GPU, and the others are compiled
            // for the next GPU in the table.
            let turn = |number: usize| (number + place.unwrap_or(0)).is_multiple_of(2);
            for (_, kernel) in all.filter(|(number, _)| in_full() || turn(*number)) {
                if kernel.spec().runs_on(target.backend) {
                    compile_all(target, kernel, if in_full() { 3 } else { 1 });
                }
            }
        },
    );
}

#[test]
fn every_kernel_that_comes_with_kiln_compiles_for_every_target() {
    for_each_gpu(
        "every_kernel_that_comes_with_kiln_compiles_for_every_target",
        |target| {
            // For these targets, the tests of the library compile every kernel, and launch it on the simulated GPU.
            if !in_full() && ["sm_86", "gfx1151"].contains(&target.arch) {
                return;
            }
            let per_type = if in_full() { 3 } else { 1 };
            kiln_kernels::catalogue()
                .par_iter()
                .for_each(|kernel| compile_all(target, kernel, per_type));
        },
    );
}

/// The kernels of a package in the fixtures, and their sources.
fn fixture(package: &str, file: &str) -> Vec<(KernelSpec, SourceText)> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(package)
        .join("src");
    let read = |name: &str| std::fs::read_to_string(source.join(name));
    let found = discover(&read(file).unwrap(), &ModuleLayout::Root, &BTreeSet::new()).unwrap();
    let specs = found
        .kernels
        .into_iter()
        .map(|kernel| kernel.kernel.unwrap().spec);
    let with_source = specs.map(|spec| {
        let text = SourceText::load(&spec.source, &mut |name| Ok(read(name)?)).unwrap();
        (spec, text)
    });
    with_source.collect()
}

#[test]
fn kernels_that_know_nothing_of_kiln_compile_for_every_target() {
    let packages = [
        ("adding", "lib.rs"),
        ("attention", "lib.rs"),
        ("blending", "main.rs"),
    ];
    let found: Vec<_> = packages
        .into_iter()
        .flat_map(|(package, file)| fixture(package, file))
        .collect();
    assert_eq!(found.len(), 3);
    for_each_gpu(
        "kernels_that_know_nothing_of_kiln_compile_for_every_target",
        |target| {
            for (spec, source) in &found {
                let scan = SourceScan::new(source).unwrap();
                let problem = &spec.problems[0];
                for config in configs(spec, problem, target, 2) {
                    let of = Target::from(target.backend);
                    let unit = TranslationUnit::new(
                        source,
                        &scan,
                        spec,
                        &spec.entry,
                        &config,
                        problem,
                        of,
                    )
                    .unwrap();
                    compile(target, &unit, &format!("{} {config}", spec.name));
                }
            }
        },
    );
}

#[test]
fn specifiers_and_types_that_few_kernels_use_are_there_on_every_target() {
    let declared = "#[tuned_kernel(source = \"timed.cu\", params(REGISTERS in [32, 64]), baseline(REGISTERS = 64), grid(1), \
                    block(32), problems((n = 32)))]\n\
                    unsafe extern \"C\" { pub fn timed(n: u32, #[len(n)] y: &mut [i64]); }";
    let text = "#ifndef __CUDACC_RTC__\n#include <vector>\n#endif\n__managed__ int launches = 0;\n\
                __global__ void __maxnreg__(REGISTERS) timed(unsigned n, long long* y) {\n  const clock_t start = clock();\n\
                if (threadIdx.x == 0) launches++;\n  __int128 product = (__int128)launches * clock64();\n\
                y[threadIdx.x] = (long long)(product >> 64) + (clock() - start);\n}\n";
    let found = discover(declared, &ModuleLayout::Root, &BTreeSet::new()).unwrap();
    let spec = found
        .kernels
        .into_iter()
        .next()
        .unwrap()
        .kernel
        .unwrap()
        .spec;
    let source = SourceText::load("timed.cu", &mut |_| Ok(text.to_owned())).unwrap();
    let scan = SourceScan::new(&source).unwrap();
    let test = "specifiers_and_types_that_few_kernels_use_are_there_on_every_target";
    for_each_gpu(test, |target| {
        let (of, config) = (Target::from(target.backend), &spec.baseline.config);
        let problem = &spec.problems[0];
        let unit = TranslationUnit::new(&source, &scan, &spec, &spec.entry, config, problem, of);
        compile(target, &unit.unwrap(), &spec.name);
    });
}

#[test]
fn on_amd_receipts_ask_for_the_size_of_dynamic_shared_memory() {
    let test = "on_amd_receipts_ask_for_the_size_of_dynamic_shared_memory";
    for_each_gpu(test, |target| {
        if target.backend != Backend::Hip {
            return;
        }
        let asking = |kernel: &'static Kernel| {
            let problem = &kernel.spec().problems[0];
            let config = &kernel.spec().baseline.config;
            let unit =
                generate(kernel, &kernel.spec().entry, config, problem, Backend::Hip).unwrap();
            let artifact = compile(target, &unit, kernel.name());
            contains(&artifact.image, "hidden_dynamic_lds_size")
        };
        // The runtime fills exactly the hidden arguments that the metadata of a kernel lists.
        assert_eq!(asking(&kernels::blocks::KERNEL), 1);
        assert_eq!(asking(&kernels::reversed::KERNEL), 1);
    });
}

/// Counts several kinds of instructions in the release entry of a config, for the first problem of each element type.
fn instructions(
    target: &KnownTarget,
    kernel: &'static Kernel,
    config: &str,
    of: &[Instruction],
) -> Vec<Vec<usize>> {
    let spec = kernel.spec();
    let counted = problems_by_type(kernel).into_iter().map(|problems| {
        let space = SearchSpace::build(spec, &problems[0], &target.limits).unwrap();
        let mut configs = (0..space.len()).map(|place| space.config(place));
        let config = configs.find(|known| known.to_string() == config).unwrap();
        let unit = generate(kernel, &spec.entry, &config, &problems[0], target.backend).unwrap();
        let image = compile(target, &unit, kernel.name()).image;
        let entry = unit.release.as_str();
        of.iter()
            .map(|instruction| count(target, &image, entry, *instruction))
            .collect()
    });
    counted.collect()
}

#[test]
fn products_of_tiles_are_matrix_instructions_on_every_gpu() {
    let test = "products_of_tiles_are_matrix_instructions_on_every_gpu";
    for_each_gpu(test, |target| {
        let cuda = target.backend == Backend::Cuda;
        let of = [Instruction::MatrixProduct, Instruction::MatrixLoad];
        let config = |load: &str| format!("LAYOUT_A=row,LAYOUT_B=col,LAYOUT_C=row,LOAD={load}");
        for (load, loads) in [("aligned", cuda), ("plain", false)] {
            let counted = instructions(target, &kernels::tiles::KERNEL, &config(load), &of);
            assert_eq!(counted.len(), 2, "half and bfloat16");
            for counts in counted {
                let what = format!("{counts:?} of {of:?} in {load} tiles on {}", target.arch);
                // NVIDIA's instruction computes half of a tile.
                let each = if cuda { 2 } else { 1 };
                assert!(counts[0] >= each && counts[0] % each == 0, "{what}");
                assert_eq!(counts[1] > 0, loads, "{what}");
            }
        }
        let others = instructions(target, &kernels::tile_maps::KERNEL, "WARPS=1", &of);
        assert_eq!(others, [[0, 0]], "{}", target.arch);
    });
}

#[test]
fn vectors_of_16_bytes_move_in_one_instruction_on_every_gpu() {
    let test = "vectors_of_16_bytes_move_in_one_instruction_on_every_gpu";
    for_each_gpu(test, |target| {
        let of = [Instruction::LoadOf16Bytes, Instruction::StoreOf16Bytes];
        let config = |width: u32| format!("WIDTH={width},HINT=plain");
        let counts = |width| instructions(target, &kernels::vectors::KERNEL, &config(width), &of);
        // The elements of f32, f16, bf16, i32, u32 and u8 have 4, 2, 2, 4, 4 and 1 bytes.
        let wide = |width| {
            counts(width)
                .iter()
                .map(|both| both.iter().all(|n| *n > 0))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            wide(4),
            [true, false, false, true, true, false],
            "{}",
            target.arch
        );
        assert_eq!(
            wide(8),
            [true, true, true, true, true, false],
            "{}",
            target.arch
        );
    });
}

#[test]
fn on_nvidia_copies_to_shared_memory_go_past_the_registers() {
    let test = "on_nvidia_copies_to_shared_memory_go_past_the_registers";
    for_each_gpu(test, |target| {
        for bytes in [4, 8, 16] {
            let config = format!("STAGES=2,BYTES={bytes},THREADS=32");
            let of = [Instruction::AsyncCopy];
            for counts in instructions(target, &kernels::copies::KERNEL, &config, &of) {
                let cuda = target.backend == Backend::Cuda;
                assert_eq!(counts[0] > 0, cuda, "{bytes} bytes on {}", target.arch);
            }
        }
    });
}

/// Counts several kinds of instructions in a config of a kernel of the library on a target, for the first element type.
fn of_the_library(
    target: &KnownTarget,
    kernel: &'static Kernel,
    config: &str,
    of: &[Instruction],
) -> Vec<usize> {
    instructions(target, kernel, config, of).swap_remove(0)
}

#[test]
fn a_step_of_a_product_spends_its_instructions_on_products() {
    let test = "a_step_of_a_product_spends_its_instructions_on_products";
    let config = "BLOCK_M=128,BLOCK_N=128,BLOCK_K=32,WARPS_M=2,WARPS_N=2,STAGES=3,TILES=1,LANES_M=4,GROUP_M=1";
    for_each_gpu(test, |target| {
        let of = [
            Instruction::AsyncCopy,
            Instruction::StoreOf4Bytes,
            Instruction::StoreOf16Bytes,
        ];
        let counts = of_the_library(target, &kiln_kernels::gemm_f16::KERNEL, config, &of);
        let what = format!("{counts:?} of {of:?} on {}", target.arch);
        match target.backend {
            Backend::Cuda => {
                // Each fetch is unrolled into one copy for each of a thread's eight pieces of 16 bytes.
                assert!(counts[0] >= 16 && counts[0].is_multiple_of(8), "{what}");
                // A thread's 128 sums are written as 64 pairs. Another path writes them one by one.
                assert_eq!(counts[1], 64, "{what}");
            }
            // A lane writes its 128 sums eight at a time.
            _ => assert_eq!(counts[2], 16, "{what}"),
        }
    });
}

#[test]
fn a_product_reads_no_single_element_from_shared_memory() {
    let test = "a_product_reads_no_single_element_from_shared_memory";
    let config = "BLOCK_M=128,BLOCK_N=128,BLOCK_K=32,WARPS_M=2,WARPS_N=2,STAGES=2,TILES=1,LANES_M=4,GROUP_M=8";
    for_each_gpu(test, |target| {
        let of = [Instruction::SharedLoadOf2Bytes];
        // This config loads elements one by one, which shows that the instruction is recognised.
        let tile = "LAYOUT_A=row,LAYOUT_B=row,LAYOUT_C=row,LOAD=plain";
        let by_elements = of_the_library(target, &kernels::tiles::KERNEL, tile, &of);
        assert!(by_elements[0] > 0, "{}", target.arch);
        let counts = of_the_library(target, &kiln_kernels::gemm_f16::KERNEL, config, &of);
        assert_eq!(counts, [0], "{}", target.arch);
    });
}

#[test]
fn attention_keeps_its_scores_in_registers() {
    let test = "attention_keeps_its_scores_in_registers";
    let config =
        "WARPS=4,LANES=32,QUERIES=16,BLOCK_K=64,STAGES=2,VECTOR_WIDTH=8,TILES=1,HEAD_DIM=64";
    for_each_gpu(test, |target| {
        let of = [
            Instruction::SharedStoreOf2Bytes,
            Instruction::MatrixProduct,
            Instruction::AsyncCopy,
            Instruction::Any,
        ];
        let kernel = &kiln_kernels::flash_attention::KERNEL;
        let counts = of_the_library(target, kernel, config, &of);
        let what = format!("{counts:?} of {of:?} on {}", target.arch);
        assert_eq!(counts[0], 0, "{what}");
        if target.backend == Backend::Cuda {
            // 32 tiles of halves, and the eight copies of each fetch.
            assert_eq!(counts[1..3], [64, 16], "{what}");
            // When the scores were in shared memory, there were 2,600 instructions.
            assert!(counts[3] < 1800, "{what}");
        }
    });
}

#[test]
fn where_there_are_no_matrix_instructions_tiles_are_an_error_and_all_else_compiles() {
    let test = "where_there_are_no_matrix_instructions_tiles_are_an_error_and_all_else_compiles";
    for (arch, backend, need, message) in [
        (
            "sm_75",
            Backend::Cuda,
            Need::Nvrtc,
            "tiles need tensor cores of sm_80 or later",
        ),
        (
            "gfx1030",
            Backend::Hip,
            Need::AmdClang,
            "tiles need the wave matrix instructions of gfx11",
        ),
    ] {
        if !have(test, &[need]) {
            continue;
        }
        let compiler = compile_only::compiler(arch).unwrap();
        for kernel in kernels::ALL {
            let spec = kernel.spec();
            let (config, problem) = (&spec.baseline.config, &spec.problems[0]);
            let unit = generate(kernel, &spec.entry, config, problem, backend).unwrap();
            let request = CompileRequest::new(unit.release.as_str(), unit.text.as_str());
            let compiled = compiler.compile(&request);
            if ["tiles", "tile_chain", "matmul"].contains(&kernel.name()) {
                let error = compiled.unwrap_err().to_string();
                assert!(error.contains(message), "{arch}: {error}");
            } else if let Err(error) = compiled {
                panic!("{} for {arch}: {error}", kernel.name());
            }
        }
    }
}
