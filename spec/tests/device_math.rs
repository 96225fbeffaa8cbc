//! Compiles the mathematical functions of the prelude for this machine, and checks that their errors are within the
//! bounds in `docs/device-prelude.md`. Devices run the same code.

#![cfg(target_arch = "x86_64")]

#[allow(dead_code, reason = "only the list of compilers is used here")]
mod units;

use std::path::{Path, PathBuf};
use std::process::Command;

use units::compilers;

/// For each function, its printed name, its name in CUDA, and its largest error in units in the last place, for float
/// and double. Functions that are not listed have a largest error of 1.
const BOUNDS: &[(&str, &str, f64)] = &[
    ("quick_tanh", "tanhf", 2.0),
    ("rcbrt", "rcbrt", 2.0),
    ("tgamma", "tgamma", 2.0),
    ("lgamma_positive", "lgamma", 3.0),
    ("lgamma_between", "lgamma", 3.0),
    ("lgamma_below", "lgamma", 3.0),
    ("erfc", "erfc", 4.0),
    ("normcdf", "normcdf", 4.0),
    // These functions are exact by definition.
    ("fmod", "fmod", 0.0),
    ("remainder", "remainder", 0.0),
    ("parts", "frexp", 0.0),
];

/// For each float function of the `cpu` device, its largest error in units in the last place.
const CPU_BOUNDS: &[(&str, f64)] = &[
    ("expf", 1.0),
    ("__expf", 1.0),
    ("exp2f", 1.5),
    ("logf", 1.0),
    ("tanhf", 1.5),
    ("erff", 1.5),
    ("erfcf", 4.0),
    ("normcdff", 4.5),
    ("rsqrtf", 1.5),
];

const PAGE: &str = include_str!("../../docs/device-prelude.md");

fn bound(name: &str) -> f64 {
    let listed = BOUNDS.iter().find(|(listed, ..)| *listed == name);
    listed.map_or(1.0, |(.., bound)| *bound)
}

/// Compiles the program that measures the errors, runs it, and returns its output.
fn measured(cxx: &str, folder: &Path) -> String {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = folder.join("measure");
    // Contract multiplications and additions as HIP does: everywhere except where the headers forbid it. g++ has no
    // such mode.
    let contract = if cxx.starts_with("clang") {
        "-ffp-contract=fast-honor-pragmas"
    } else {
        "-ffp-contract=off"
    };
    let compiled = Command::new(cxx)
        .args(["-O2", "-std=c++17", "-march=x86-64-v3", "-Wall", contract])
        .arg("-I")
        .arg(here.join("prelude"))
        .arg(here.join("tests/math/measure.cpp"))
        .arg("-o")
        .arg(&program)
        .output()
        .expect("the compiler should start");
    let messages = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{cxx}: {messages}");
    let run = Command::new(program)
        .output()
        .expect("the program should start");
    assert!(run.status.success(), "{cxx}: {:?}", run.status);
    String::from_utf8(run.stdout).expect("the program should print text")
}

#[test]
fn every_function_is_within_its_stated_error() {
    for cxx in compilers() {
        let folder = tempfile::tempdir().expect("a folder should be made");
        let text = measured(cxx, folder.path());
        let mut functions = 0;
        for line in text.lines() {
            let mut words = line.split(' ');
            let mut word = || words.next().expect("a line should have four words");
            let (name, ty, error, at) = (word(), word(), word(), word());
            let error: f64 = error.parse().expect("an error should be a number");
            assert!(
                error <= bound(name),
                "{cxx}: {name} of {ty} errs by {error} at {at}"
            );
            functions += 1;
        }
        assert!(functions > 70, "{cxx}: only {functions} were measured");
    }
}

/// Compiles `measure_cpu.cpp` with the flags of the `cpu` device, but for this processor. Returns the path of the
/// output.
fn compiled_for_the_cpu(cxx: &str, folder: &Path, flags: &[&str]) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = folder.join("measure_cpu");
    let compiled = Command::new(cxx)
        .args(["-O3", "-std=c++20", "-fno-math-errno", "-fno-trapping-math"])
        .args(["-Wall", "-Wno-unknown-pragmas", "-Wno-unused-function"])
        .args(flags)
        .arg("-I")
        .arg(here.join("prelude"))
        .arg(here.join("tests/math/measure_cpu.cpp"))
        .arg("-o")
        .arg(&output)
        .output()
        .expect("the compiler should start");
    let messages = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{cxx}: {messages}");
    output
}

#[test]
fn the_cpu_devices_functions_are_within_their_stated_errors() {
    let kinds = [
        ["-march=x86-64-v3", "-ffp-contract=fast"],
        ["-march=x86-64-v2", "-ffp-contract=off"],
    ];
    for (cxx, kind) in compilers()
        .iter()
        .flat_map(|cxx| kinds.map(|kind| (cxx, kind)))
    {
        let folder = tempfile::tempdir().expect("a folder should be made");
        let flags = [kind[0], kind[1], "-DSTEP=1499"];
        let run = Command::new(compiled_for_the_cpu(cxx, folder.path(), &flags))
            .output()
            .expect("the program should start");
        let text = String::from_utf8(run.stdout).expect("the program should print text");
        let measured = text.lines().map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let error: f64 = words[2].parse().expect("an error should be a number");
            (words[0], error, words[3])
        });
        let mut functions = 0;
        for ((name, error, at), (stated, bound)) in measured.zip(CPU_BOUNDS) {
            assert_eq!(name, *stated);
            assert!(
                error <= *bound,
                "{cxx} {kind:?}: {name} errs by {error} at {at}"
            );
            functions += 1;
        }
        assert_eq!(functions, CPU_BOUNDS.len(), "{cxx} {kind:?}: {text}");
    }
}

#[test]
fn a_loop_over_any_of_the_cpu_devices_functions_becomes_vectors_without_calls() {
    for cxx in compilers() {
        let folder = tempfile::tempdir().expect("a folder should be made");
        let flags = [
            "-march=x86-64-v3",
            "-ffp-contract=fast",
            "-DSTEP=1499",
            "-fPIC",
            "-S",
        ];
        let text = std::fs::read_to_string(compiled_for_the_cpu(cxx, folder.path(), &flags))
            .expect("the compiler should write assembly");
        // `__expf` calls `expf`, and the compiler may merge their loops.
        let names = CPU_BOUNDS.iter().map(|(name, _)| *name);
        for name in names.filter(|name| *name != "__expf") {
            let (_, code) = text
                .split_once(&format!("\nloop_{name}:"))
                .expect("the loop should be there");
            let (code, _) = code
                .split_once(".cfi_endproc")
                .expect("the loop should have an end");
            assert!(
                code.contains("%ymm"),
                "{cxx}: {name} is not a loop over vectors"
            );
            assert!(!code.contains("call"), "{cxx}: {name} calls a function");
        }
    }
}

#[test]
fn the_page_states_the_errors_that_are_tested() {
    let (_, section) = PAGE
        .split_once("## Mathematical functions on AMD GPUs\n")
        .expect("the page should have the section");
    for (_, name, bound) in BOUNDS {
        let row = format!("| `{name}` | {bound} |\n");
        assert!(section.contains(&row), "{row}");
    }
    let (_, section) = PAGE
        .split_once("## Mathematical functions on the cpu device\n")
        .expect("the page should have the section");
    for (name, bound) in CPU_BOUNDS {
        let row = format!("| `{name}` | {bound} |\n");
        assert!(section.contains(&row), "{row}");
    }
}
