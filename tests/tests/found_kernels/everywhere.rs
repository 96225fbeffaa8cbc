//! Uses the kernels with the macro, the command line and the compilers for GPUs, and launches kernels of each type.

use std::collections::BTreeSet;
use std::path::Path;

use kiln::artifacts::{ArtifactCache, DEFAULT_MAX_BYTES};
use kiln::compile_only;
use kiln::compiler::CompileRequest;
use kiln::prepare::generate;
use kiln::reference::make_data;
use kiln::smoke::{self, CheckOutcome, SmokeOptions};
use kiln::spec::codegen::{Target, TranslationUnit};
use kiln::spec::parse::discover::{ModuleLayout, discover};
use kiln::spec::source::{SourceScan, SourceText};
use kiln::spec::targets::TARGETS;
use kiln::spec::{Backend, KernelSpec, ProblemValue};
use kiln::{Buffer, Choice, Element, Stream, bf16, f16};
use kiln_tests::capability::{Need, have};
use kiln_tests::command::shared_artifacts;

use crate::kernels::{self, ALL, axpby, blended, doubled, filtered, spmv};
use crate::launches;

#[test]
fn tune_finds_the_same_declarations_as_the_macro() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/found_kernels/kernels.rs");
    let text = std::fs::read_to_string(file).unwrap();
    let found = discover(&text, &ModuleLayout::Root, &BTreeSet::new()).unwrap();
    let found: Vec<String> = found
        .kernels
        .into_iter()
        .map(|kernel| kernel.kernel.unwrap().spec.to_json())
        .collect();
    let declared: Vec<String> = ALL.iter().map(|kernel| kernel.spec().to_json()).collect();
    assert_eq!(found, declared);
}

#[test]
fn every_kernel_compiles_for_the_gpus_whose_compilers_are_here() {
    let test = "every_kernel_compiles_for_the_gpus_whose_compilers_are_here";
    for (arch, need) in [("sm_89", Need::Nvrtc), ("gfx1151", Need::AmdClang)] {
        if !have(test, &[need]) {
            continue;
        }
        let target = TARGETS.iter().find(|target| target.arch == arch).unwrap();
        let compiler = compile_only::compiler(arch).unwrap();
        let artifacts = ArtifactCache::at(shared_artifacts(), DEFAULT_MAX_BYTES);
        for kernel in ALL.iter().chain(launches::ALL) {
            let spec = kernel.spec();
            for problem in &spec.problems {
                let config = &spec.baseline.config;
                let unit = generate(kernel, &spec.entry, config, problem, target.backend).unwrap();
                let request = CompileRequest::new(unit.release.as_str(), unit.text.as_str());
                let compiled = artifacts.compile(&*compiler, target.backend, &request);
                if let Err(error) = compiled {
                    panic!("{} for {arch}, {problem}: {error}", kernel.name());
                }
            }
        }
    }
}

#[test]
fn inputs_of_a_function_are_made_where_it_is_provided_and_nowhere_else() {
    let spec = spmv::KERNEL.spec();
    let error = make_data(spec, &spec.problems[0], 3)
        .unwrap_err()
        .to_string();
    for piece in ["the inputs of `spmv`", "`sparse_rows`", "\nhelp: "] {
        assert!(error.contains(piece), "{error}");
    }
    kiln::inputs::provide(&spmv::KERNEL);
    let made = || make_data(spec, &spec.problems[0], 3).unwrap();
    let data = made();
    assert_eq!(data, made());
    let starts: Vec<i32> = data[2]
        .bytes()
        .chunks_exact(4)
        .map(|bytes| i32::from_ne_bytes(bytes.try_into().unwrap()))
        .collect();
    assert_eq!(starts.len(), 701);
    assert!(starts.is_sorted());
    assert!(starts[700] > 1000);
}

fn launch_doubled<T: doubled::T>(stream: &Stream, values: &[T]) -> Vec<T> {
    let x = Buffer::from_slice(stream, values).unwrap();
    let mut y = Buffer::<T>::zeros(stream, values.len()).unwrap();
    kernels::doubled(stream, values.len() as i32, &x, &mut y).unwrap();
    y.to_vec(stream).unwrap()
}

#[test]
fn one_launch_function_serves_every_type() {
    if !have(
        "one_launch_function_serves_every_type",
        &[Need::HostCompiler],
    ) {
        return;
    }
    let stream = Stream::default_of(kiln::open("cpu").unwrap());
    assert_eq!(launch_doubled(&stream, &[0.1_f64, 1e300]), [0.2, 2e300]);
    assert_eq!(launch_doubled(&stream, &[1_i64 << 61, -3]), [1 << 62, -6]);
    assert_eq!(launch_doubled(&stream, &[1_u64 << 62]), [1 << 63]);
    assert_eq!(launch_doubled(&stream, &[-16000_i16]), [-32000]);
    assert_eq!(launch_doubled(&stream, &[32000_u16]), [64000]);
    assert_eq!(launch_doubled(&stream, &[-64_i8]), [-128]);
}

#[test]
fn every_type_of_a_type_parameter_passes_the_smoke_test() {
    let test = "every_type_of_a_type_parameter_passes_the_smoke_test";
    if !have(test, &[Need::HostCompiler]) {
        return;
    }
    let device = kiln::open("cpu").unwrap();
    let kernel = &doubled::KERNEL;
    let types: BTreeSet<&str> = kernel
        .spec()
        .problems
        .iter()
        .filter_map(|problem| match problem.get("T")? {
            ProblemValue::Type(ty) => Some(ty.name()),
            ProblemValue::Size(_) => None,
        })
        .collect();
    assert_eq!(types.len(), 6);
    assert!(types.contains(<f64 as Element>::TYPE.name()));
    let check = smoke::prove(kernel, &device, Choice::Baseline, &SmokeOptions::default());
    assert!(
        matches!(check.outcome, CheckOutcome::Passed { .. }),
        "{check:?}"
    );
    assert_eq!(device.info().key.backend, Backend::Cpu);
}

#[test]
fn a_struct_is_passed_as_the_caller_fills_it() {
    if !have(
        "a_struct_is_passed_as_the_caller_fills_it",
        &[Need::HostCompiler],
    ) {
        return;
    }
    let stream = Stream::default_of(kiln::open("cpu").unwrap());
    let x = Buffer::from_slice(&stream, &[1.0_f32, 2.0, 3.0, 4.0, 5.0]).unwrap();
    let mut y = Buffer::<f32>::zeros(&stream, 5).unwrap();
    let blend = kernels::Blend {
        mode: 7,
        taps: [0.0, 1.0, 10.0],
        bias: 0.5,
        window: kernels::Window { first: 0, count: 4 },
    };
    let colour = [1.0, 2.0, 3.0, 4.0];
    kernels::blended(&stream, 5, blend, colour, &x, &mut y).unwrap();
    let found = y.to_vec(&stream).unwrap();
    assert_eq!(found, [21.5, 64.5, 129.5, 16.5, 0.5]);
}

#[test]
fn values_and_constants_of_another_layout_in_the_source_are_refused_when_it_is_compiled() {
    let test = "values and constants of another layout";
    for (target, need) in COMPILED_FOR {
        if have(test, &[need]) {
            other_layouts_are_refused(target);
            smaller_constants_are_refused(target);
        }
    }
}

const COMPILED_FOR: [(&str, Need); 3] = [
    ("cpu", Need::HostCompiler),
    ("sm_89", Need::Nvrtc),
    ("gfx1151", Need::AmdClang),
];

fn other_layouts_are_refused(target: &str) {
    let spec = blended::KERNEL.spec();
    let source = include_str!("../../fixtures/found/blended.cu");
    for (from, to, says) in [
        ("double bias;", "float bias;", "'params' has 32 bytes"),
        ("unsigned char mode;", "int mode;", "'mode' has 1 bytes"),
        ("float4 colour", "float3 colour", "has 16 bytes"),
    ] {
        let error = compiled(target, spec, &source.replace(from, to)).unwrap_err();
        assert!(error.contains(says), "{target}, {to}: {error}");
    }
    // The fields of a class with private members are not compared, but its size is.
    let private = source.replace(
        "double bias;",
        "__device__ double offset() const { return bias; }\nprivate:\n    double bias;\npublic:",
    );
    let private = private.replace("params.bias", "params.offset()");
    compiled(target, spec, &private).unwrap();
    let larger = private.replace("double bias;", "double bias, more;");
    let error = compiled(target, spec, &larger).unwrap_err();
    assert!(error.contains("'params' has 32 bytes"), "{target}: {error}");
}

fn smaller_constants_are_refused(target: &str) {
    let spec = filtered::KERNEL.spec();
    let source = include_str!("../../fixtures/found/filtered.cu");
    let smaller = source.replace("__constant__ int2 edges;", "__constant__ int edges[1];");
    let smaller = smaller
        .replace("edges.x", "edges[0]")
        .replace("edges.y", "edges[0]");
    let error = compiled(target, spec, &smaller).unwrap_err();
    let says = "the spec fills 'edges' with 8 bytes";
    assert!(error.contains(says), "{target}: {error}");
}

/// Compiles this text of a kernel for a target. Returns the text of the error.
fn compiled(target: &str, spec: &KernelSpec, source: &str) -> Result<(), String> {
    let known = TARGETS.iter().find(|known| known.arch == target);
    let backend = known.map_or(Backend::Cpu, |known| known.backend);
    let source = SourceText::from_expanded(source);
    let scan = SourceScan::new(&source).unwrap();
    let (config, problem) = (&spec.baseline.config, &spec.problems[0]);
    let of = Target::from(backend);
    let unit = TranslationUnit::new(&source, &scan, spec, &spec.entry, config, problem, of);
    let unit = unit.unwrap();
    let request = CompileRequest::new(unit.release.as_str(), unit.text.as_str());
    let compiled = match known {
        Some(_) => compile_only::compiler(target).unwrap().compile(&request),
        None => {
            let device = kiln::open(target).unwrap();
            device.compiler().unwrap().compile(&request)
        }
    };
    compiled.map(drop).map_err(|error| error.to_string())
}

#[test]
fn constant_memory_holds_what_each_launch_was_given() {
    let test = "constant_memory_holds_what_each_launch_was_given";
    // On the cpu, there are enough blocks for every thread of the device. Each thread has a copy of the variables.
    for (device, need, n) in [
        ("cpu", Need::HostCompiler, 100_000),
        ("sim:sm_89", Need::Nvrtc, 1000),
        ("sim:gfx1151", Need::AmdClang, 1000),
    ] {
        if have(test, &[need]) {
            filters_with_constants(device, n);
        }
    }
}

fn filters_with_constants(device: &str, n: i32) {
    let stream = Stream::default_of(kiln::open(device).unwrap());
    let x: Vec<f32> = (0..n).map(|i| (i % 7) as f32).collect();
    let x = Buffer::from_slice(&stream, &x).unwrap();
    let window = Buffer::from_slice(&stream, &[0.5_f32, 0.25, 0.25]).unwrap();
    let edges = Buffer::from_slice(&stream, &[0, n - 1]).unwrap();
    let mut y = Buffer::<f32>::zeros(&stream, n as usize).unwrap();
    for scale in [1.0_f32, -2.0, 3.0] {
        let mut taps = [0.0_f32; 9];
        taps[4] = scale;
        let taps = Buffer::from_slice(&stream, &taps).unwrap();
        kernels::filtered(&stream, &x, &mut y, n, &taps, &window, &edges).unwrap();
        let found = y.to_vec(&stream).unwrap();
        let wrong = (0..n as usize).find(|&i| found[i] != scale * (i % 7) as f32 + 1.0);
        assert_eq!(wrong, None, "{device}, with taps of {scale}");
    }
    let short = Buffer::<f32>::zeros(&stream, 8).unwrap();
    let error = kernels::filtered(&stream, &x, &mut y, n, &short, &window, &edges).unwrap_err();
    assert!(error.to_string().contains("`taps`"), "{error}");
}

fn launch_axpby<T: axpby::T>(stream: &Stream, alpha: T, beta: T, x: &[T], y: &[T]) -> Vec<T> {
    let x = Buffer::from_slice(stream, x).unwrap();
    let mut y = Buffer::from_slice(stream, y).unwrap();
    let n = i32::try_from(x.len()).unwrap();
    kernels::axpby(stream, n, alpha, &x, beta, &mut y).unwrap();
    y.to_vec(stream).unwrap()
}

#[test]
fn a_number_by_value_has_the_type_of_the_launch() {
    let test = "a_number_by_value_has_the_type_of_the_launch";
    if !have(test, &[Need::HostCompiler]) {
        return;
    }
    let stream = Stream::default_of(kiln::open("cpu").unwrap());
    let found = launch_axpby(&stream, 3.0_f32, 0.5, &[1.0, -2.0], &[4.0, 8.0]);
    assert_eq!(found, [5.0, -2.0]);
    // The factor has more bits than an f32.
    let alpha = 1.0_f64 + f64::EPSILON;
    assert_eq!(launch_axpby(&stream, alpha, 0.0, &[1.0], &[7.0]), [alpha]);
    let f16s = |values: &[f32]| -> Vec<f16> { values.iter().map(|x| f16::from_f32(*x)).collect() };
    let [alpha, beta] = f16s(&[3.0, 0.5])[..] else {
        panic!("two numbers")
    };
    let found = launch_axpby(
        &stream,
        alpha,
        beta,
        &f16s(&[1.0, -2.0]),
        &f16s(&[4.0, 8.0]),
    );
    assert_eq!(found, f16s(&[5.0, -2.0]));
    let bf16s =
        |values: &[f32]| -> Vec<bf16> { values.iter().map(|x| bf16::from_f32(*x)).collect() };
    let [alpha, beta] = bf16s(&[3.0, 0.5])[..] else {
        panic!("two numbers")
    };
    let found = launch_axpby(
        &stream,
        alpha,
        beta,
        &bf16s(&[1.0, -2.0]),
        &bf16s(&[4.0, 8.0]),
    );
    assert_eq!(found, bf16s(&[5.0, -2.0]));

    let x = Buffer::from_slice(&stream, &[1_u8, 2]).unwrap();
    let mut y = Buffer::<f16>::zeros(&stream, 2).unwrap();
    kernels::shift_scale(&stream, 2, 200_u8, f16::from_f32(0.5), &x, &mut y).unwrap();
    assert_eq!(y.to_vec(&stream).unwrap(), f16s(&[100.5, 101.0]));
}

#[test]
fn host_code_in_the_source_is_not_a_part_of_the_kernel() {
    let source = kernels::limited::KERNEL.source();
    for kept in [
        "__global__ void limited",
        "float limit(float x, Range range)",
        "Range;",
    ] {
        assert!(source.contains(kept), "{kept}:\n{source}");
    }
    for left_out in [
        "vector",
        "Timer",
        "Options",
        "torch",
        "wrapped",
        "main",
        "void fill",
    ] {
        assert!(!source.contains(left_out), "{left_out}:\n{source}");
    }
}
