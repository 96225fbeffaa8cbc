//! Tests that the stack switch of the cpu device preserves every thread's values. One test runs kernels that keep
//! values of every type across barriers and warp operations, with every compiler and several instruction sets.
//! Another test checks the machine code itself.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod liveness;
#[path = "../on_cpu/mod.rs"]
mod on_cpu;
mod program;

use std::process::Command;
use std::sync::Arc;

use kiln::backend::cpu::{CpuDevice, CpuOptions, CpuTarget};
use kiln::compiler::{Artifact, BuildKind};
use kiln::device::DeviceBackend as _;
use on_cpu::{Arg, Loaded, buffer, compile, contents, devices_with, options, plan};
use program::{BLOCK, ELEMENTS, Program, ROUNDS};

/// The instruction sets to compile for. Code that this processor cannot run is checked but not launched. For
/// `sapphirerapids`, g++ keeps values in mask registers, whichever processor the test runs on.
const LEVELS: [&str; 5] = [
    "x86-64",
    "x86-64-v3",
    "x86-64-v4",
    "sapphirerapids",
    "native",
];
const BUILDS: [BuildKind; 2] = [BuildKind::Release, BuildKind::Check];
/// The content of an output that no thread wrote.
const UNWRITTEN: u32 = 0xDEAD_BEEF;

/// The programs, and the number of programs per translation unit.
fn programs() -> (Vec<Program>, usize) {
    let count = if std::env::var_os("KILN_BARS").is_some() {
        50
    } else {
        4
    };
    ((0..count).map(Program::of).collect(), 5)
}

/// A translation unit with a kernel for each program.
fn unit(programs: &[Program]) -> String {
    let mut text = "#define KILN_CPU_FIBERS 1\n#include \"kiln_cpu.h\"\n".to_owned();
    for (i, program) in programs.iter().enumerate() {
        text += &program.source(&format!("program_{i}"));
        text += &format!("KILN_CPU_ENTRY(entry_{i}, program_{i})\n");
    }
    text
}

#[test]
#[cfg(target_arch = "x86_64")]
fn values_survive_barriers_and_no_register_is_live_across_a_switch() {
    let (programs, together) = programs();
    for level in LEVELS {
        let target = match level {
            "native" => CpuTarget::Native,
            named => CpuTarget::Named(named.into()),
        };
        let options = CpuOptions {
            target,
            ..options()
        };
        for device in devices_with(&options) {
            for build in BUILDS {
                for programs in programs.chunks(together) {
                    let artifact = compile(&device, &unit(programs), build).unwrap();
                    let what = format!("{:?}, {level}, {build:?}", device.compiler().unwrap());
                    check_code(&artifact, build, &what);
                    check_outputs(&device, &artifact, programs, &what);
                }
            }
        }
    }
}

/// Checks that no register is read after a switch before it is written, because the switch preserves no registers.
fn check_code(artifact: &Artifact, build: BuildKind, what: &str) {
    let (live, switches) = liveness::live_after_a_switch(&disassembly(artifact));
    // A check build has its switches in a few functions, which all kernels call.
    let least = if build == BuildKind::Check { 0 } else { 10 };
    assert!(
        switches > least,
        "{what}: only {switches} switches were found in the machine code"
    );
    assert!(
        live.is_empty(),
        "{what}: registers that the switch does not keep: {live:?}"
    );
}

fn check_outputs(device: &Arc<CpuDevice>, artifact: &Artifact, programs: &[Program], what: &str) {
    // The device does not load code for another processor, or code that needs more than this processor supports.
    let Ok(module) = device.load(artifact) else {
        return;
    };
    let input: Vec<u32> = (0..ELEMENTS)
        .map(|i| i.wrapping_mul(2_654_435_761))
        .collect();
    let blocks = ELEMENTS.div_ceil(BLOCK);
    for (i, program) in programs.iter().enumerate() {
        let kernel = Loaded {
            device: Arc::clone(device),
            function: module.clone().function(&format!("entry_{i}")).unwrap(),
        };
        let mut expected = program.outputs(&input);
        expected.resize((blocks * BLOCK) as usize, UNWRITTEN);
        let x = buffer(device, &input);
        let out = buffer(device, &vec![UNWRITTEN; expected.len()]);
        let args = [
            Arg::Uint(ELEMENTS),
            Arg::Uint(ROUNDS),
            Arg::Buffer(&*x),
            Arg::Buffer(&*out),
        ];
        kernel
            .launch(&plan([blocks, 1, 1], [BLOCK, 1, 1]), &args)
            .unwrap();
        let written = contents::<u32>(&*out);
        let wrong = written
            .iter()
            .zip(&expected)
            .filter(|(a, b)| a != b)
            .count();
        assert_eq!(
            wrong,
            0,
            "{what}: {wrong} outputs are wrong:\n{}",
            program.source("program")
        );
    }
}

fn disassembly(artifact: &Artifact) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernel.so");
    std::fs::write(&path, &artifact.image).unwrap();
    let output = Command::new("objdump")
        .args(["-d", "--no-show-raw-insn"])
        .arg(&path)
        .output()
        .expect("binutils should be installed with a compiler");
    String::from_utf8(output.stdout).unwrap()
}
