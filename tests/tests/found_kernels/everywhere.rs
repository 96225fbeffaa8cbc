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
use kiln::spec::{Backend, ProblemValue};
use kiln::{Buffer, Choice, Element, Stream};
use kiln_tests::capability::{Need, have};
use kiln_tests::command::shared_artifacts;

use crate::kernels::{self, ALL, blended, doubled, spmv};
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
fn a_struct_of_another_layout_in_the_source_is_refused_when_it_is_compiled() {
    let test = "a_struct_of_another_layout_in_the_source_is_refused_when_it_is_compiled";
    if !have(test, &[Need::HostCompiler]) {
        return;
    }
    let kernel = &blended::KERNEL;
    let spec = kernel.spec();
    let source = include_str!("../../fixtures/found/blended.cu");
    for (from, to, says) in [
        ("double bias;", "float bias;", "`params` has 32 bytes"),
        ("unsigned char mode;", "int mode;", "`mode` has 1 bytes"),
        ("float4 colour", "float3 colour", "has 16 bytes"),
    ] {
        let source = SourceText::from_expanded(source.replace(from, to));
        let scan = SourceScan::new(&source).unwrap();
        let (config, problem) = (&spec.baseline.config, &spec.problems[0]);
        let entry = &spec.entry;
        let unit = TranslationUnit::new(
            &source,
            &scan,
            spec,
            entry,
            config,
            problem,
            Target::from(Backend::Cpu),
        );
        let unit = unit.unwrap();
        let request = CompileRequest::new(unit.release.as_str(), unit.text.as_str());
        let compiled = kiln::open("cpu")
            .unwrap()
            .compiler()
            .unwrap()
            .compile(&request);
        let error = compiled.unwrap_err().to_string();
        assert!(error.contains(says), "{to}: {error}");
    }
}

#[test]
fn constant_memory_holds_what_each_launch_was_given() {
    let test = "constant_memory_holds_what_each_launch_was_given";
    if !have(test, &[Need::HostCompiler]) {
        return;
    }
    let stream = Stream::default_of(kiln::open("cpu").unwrap());
    // There are enough blocks for every thread of the device. Each thread has a copy of the variables.
    let n = 100_000;
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
        assert_eq!(wrong, None, "with taps of {scale}");
    }
    let short = Buffer::<f32>::zeros(&stream, 8).unwrap();
    let error = kernels::filtered(&stream, &x, &mut y, n, &short, &window, &edges).unwrap_err();
    assert!(error.to_string().contains("`taps`"), "{error}");
}
