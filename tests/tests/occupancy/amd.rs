//! Comparison with LLVM's AMDGPU backend. Each compile has hundreds of kernels. Clobbers force their registers, an
//! array forces their local data share, and an attribute their workgroup size. The compiler's remark reports the waves
//! per SIMD.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use kiln::backend::hip::HipCompiler;
use kiln::compiler::Compiler as _;
use kiln_lab::candidate::inspect;
use kiln_spec::occupancy::{BlockNeeds, amd};
use kiln_spec::targets::{AmdWgp, Multiprocessor, target};
use kiln_tests::capability::{Need, have, in_full};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// Number of kernels per compile.
const KERNELS: usize = 500;

/// Total number of cases.
fn cases() -> usize {
    if in_full() { 12_000 } else { 2_000 }
}

/// The resources that a generated kernel uses.
struct Forced {
    threads: u32,
    registers: u32,
    shared: u32,
}

#[test]
fn amd_waves_are_what_the_compiler_says() {
    let name = "amd_waves_are_what_the_compiler_says";
    if !have(name, &[Need::AmdClang]) {
        return;
    }
    let known = target("gfx1151").expect("the target should be known");
    let Multiprocessor::Amd(wgp) = known.multiprocessor else {
        panic!("gfx1151 is not an AMD target");
    };
    let compiler = HipCompiler::new(known.arch).expect("clang was found just now");
    let mut rng = ChaCha8Rng::seed_from_u64(1151);
    let (mut compared, mut granular, mut seen) = (0, 0, [0_u32; 17]);
    while compared < cases() {
        let forced: Vec<_> = (0..KERNELS).map(|_| force(&mut rng, &wgp)).collect();
        let log = compile(&compiler, &forced);
        for (index, kernel) in forced.iter().enumerate() {
            let (waves, real) = compare(&log, &format!("k{index}"), kernel, &wgp);
            granular += usize::from(real < waves);
            seen[waves as usize] += 1;
            compared += 1;
        }
    }
    let kinds = seen.iter().filter(|count| **count > 0).count();
    assert!(kinds >= 8, "the cases are too alike: {seen:?}");
    println!(
        "gfx1151: {compared} of {compared} cases as {} says; {granular} have fewer waves when local data share is counted \
         in steps of 1 KiB, which the compiler does not",
        compiler.identity()
    );
}

/// The waves per SIMD that the compiler reports for a kernel, and the waves that Kiln computes. The two must be equal,
/// except for the allocation granularity.
fn compare(log: &str, symbol: &str, kernel: &Forced, wgp: &AmdWgp) -> (u32, u32) {
    let resources = inspect::from_log(kiln_spec::Backend::Hip, log, symbol)
        .unwrap_or_else(|error| panic!("{symbol}: {error}"));
    assert_eq!(
        resources.limits.static_shared_bytes, kernel.shared,
        "{symbol}"
    );
    assert!(resources.registers >= kernel.registers, "{symbol}");
    let waves = inspect::waves_per_simd(log, symbol).expect("the remark names the waves");
    let block = BlockNeeds {
        threads: kernel.threads,
        registers: resources.registers,
        static_shared_bytes: resources.limits.static_shared_bytes,
        dynamic_shared_bytes: 0,
        barriers: 1,
    };
    // The compiler ignores that hardware allocates local data share in steps of 1 KiB.
    let bytewise = AmdWgp {
        shared_granularity: 1,
        ..*wgp
    };
    assert_eq!(amd::waves_per_simd(&bytewise, &block), waves, "{block:?}");
    let real = amd::waves_per_simd(wgp, &block);
    assert!(real <= waves, "{block:?}");
    if kernel.shared.is_multiple_of(wgp.shared_granularity) {
        assert_eq!(real, waves, "{block:?}");
    }
    (waves, real)
}

fn force(rng: &mut ChaCha8Rng, wgp: &AmdWgp) -> Forced {
    let threads = match rng.random_range(0..3) {
        0 => 1 << rng.random_range(0..=10),
        1 => 32 * rng.random_range(1..=32),
        _ => rng.random_range(1..=1024),
    };
    let steps = 64 * 1024 / wgp.shared_granularity;
    let shared = match rng.random_range(0..4) {
        0 => 0,
        1 | 2 => wgp.shared_granularity * rng.random_range(1..=steps),
        _ => 4 * rng.random_range(1..=16 * 1024),
    };
    Forced {
        threads,
        registers: rng.random_range(1..=256),
        shared,
    }
}

/// Compiles the kernels, and returns the remarks of the compiler.
fn compile(compiler: &HipCompiler, kernels: &[Forced]) -> String {
    let folder = tempfile::tempdir().expect("a temporary directory should be had");
    let source = folder.path().join("kernels.hip");
    std::fs::write(&source, text(kernels)).expect("the source should be written");
    let mut command = Command::new(compiler.program());
    command.args(["-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc"]);
    command.args([
        "--offload-arch=gfx1151",
        "-mcode-object-version=5",
        "-O1",
        "-w",
    ]);
    command.args([
        "-Rpass-analysis=kernel-resource-usage",
        "-S",
        "-o",
        "/dev/null",
    ]);
    let output = kiln_tests::command::expect_code(command.arg(Path::new(&source)), 0);
    kiln_tests::command::stderr(&output)
}

fn text(kernels: &[Forced]) -> String {
    let mut text = String::new();
    for (
        index,
        Forced {
            threads,
            registers,
            shared,
        },
    ) in kernels.iter().enumerate()
    {
        let array = match shared {
            0 => String::new(),
            bytes => format!(
                "static __attribute__((shared)) char taken[{bytes}]; asm volatile(\"\" :: \"v\"(&taken[0]));"
            ),
        };
        writeln!(
            text,
            "extern \"C\" __attribute__((global, amdgpu_flat_work_group_size({threads}, {threads}))) void k{index}() \
             {{ {array} asm volatile(\"\" ::: \"v{}\"); }}",
            registers - 1
        )
        .expect("text can be written");
    }
    text
}
