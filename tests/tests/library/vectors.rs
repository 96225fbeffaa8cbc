//! The baselines of element-wise kernels on the cpu device use vector instructions for every element type. A branch in
//! a conversion keeps compilers from using them, and made the baseline of `gelu` 7.8 times slower for bfloat16.
#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::process::Command;

use kiln::artifacts::{ArtifactCache, DEFAULT_MAX_BYTES};
use kiln::compiler::CompileRequest;
use kiln::prepare::generate;
use kiln::spec::{Backend, Problem};
use kiln::{Choice, Kernel};
use kiln_tests::capability::{Need, have};
use kiln_tests::command::shared_artifacts;

use crate::verify::of_each_type;

/// Packed additions and multiplications of floats, of x86-64 and aarch64. x86-64 with AVX512-FP16 has them for halves.
const PACKED: [&str; 8] = [
    "mulps",
    "addps",
    "mulph",
    "addph",
    "\tfmul\tv",
    "\tfadd\tv",
    "\tfmul\tz",
    "\tfadd\tz",
];

/// The machine code of a kernel's baseline for the cpu device.
fn machine_code(kernel: &'static Kernel, problem: &Problem) -> String {
    let device = kiln::open("cpu").unwrap();
    let compiler = device.compiler().unwrap();
    let config = kernel.config(Choice::Baseline);
    let entry = &kernel.spec().entry;
    let unit = generate(kernel, entry, &config, problem, Backend::Cpu).unwrap();
    let request = CompileRequest::new(unit.release.as_str(), unit.text.as_str());
    let artifact = ArtifactCache::at(shared_artifacts(), DEFAULT_MAX_BYTES)
        .compile(compiler, Backend::Cpu, &request)
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernel.so");
    std::fs::write(&path, &artifact.image).unwrap();
    let output = Command::new("objdump").arg("-d").arg(&path).output();
    String::from_utf8(output.expect("binutils should be installed").stdout).unwrap()
}

#[test]
fn baselines_of_elementwise_kernels_use_vector_instructions_for_every_type() {
    let test = "baselines_of_elementwise_kernels_use_vector_instructions_for_every_type";
    // clang's vectoriser is the one that branches stop.
    if !have(test, &[Need::AmdClang]) {
        return;
    }
    for kernel in [
        &kiln_kernels::gelu::KERNEL,
        &kiln_kernels::tensor_add::KERNEL,
        &kiln_kernels::tensor_mul::KERNEL,
    ] {
        for problem in of_each_type(kernel) {
            let code = machine_code(kernel, problem);
            assert!(
                PACKED.iter().any(|packed| code.contains(packed)),
                "{} for {problem} has no vector instruction",
                kernel.name()
            );
        }
    }
}
