//! Comparison with `cuda_occupancy.h` in a small C++ program: every limit, every limiting factor, and the blocks.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use kiln_spec::occupancy::{BlockLimits, BlockNeeds, Limiter, nvidia};
use kiln_spec::targets::{KnownTarget, Multiprocessor, NvidiaSm, STATIC_SHARED_BYTES, target};
use kiln_tests::capability::{Need, cuda_occupancy, have, in_full};
use rand::{Rng, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

#[test]
fn nvidia_occupancy_is_what_the_vendor_header_says() {
    let name = "nvidia_occupancy_is_what_the_vendor_header_says";
    if !have(name, &[Need::HostCompiler, Need::CudaOccupancy]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary directory should be had");
    let program = folder.path().join("vendor");
    build(&program);
    for (arch, seed) in [("sm_86", 86), ("sm_89", 89), ("sm_90", 90)] {
        let known = target(arch).expect("the target should be known");
        let Multiprocessor::Nvidia(sm) = &known.multiprocessor else {
            panic!("{arch} is not an NVIDIA target");
        };
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let blocks: Vec<_> = (0..cases()).map(|_| block(&mut rng, known)).collect();
        let answers = ask(&program, known, sm, &blocks);
        assert_eq!(answers.len(), blocks.len(), "{arch}");
        let mut launchable = 0;
        for (block, answer) in blocks.iter().zip(&answers) {
            let shared = known.limits.shared_bytes_per_block;
            let limits =
                nvidia::block_limits(sm, block, known.limits.max_threads_per_block, shared);
            assert_eq!(line(&limits), *answer, "{arch} {block:?}");
            launchable += usize::from(limits.least().1 > 0);
        }
        let occupancy = known.occupancy(&blocks[0]).expect("a GPU has an occupancy");
        assert!(occupancy.warps <= occupancy.max_warps);
        // Both kinds of cases must occur, otherwise the comparison tests little.
        assert!(
            (blocks.len() / 4..blocks.len()).contains(&launchable),
            "{arch}: {launchable}"
        );
        println!(
            "{arch}: {} of {} cases as cuda_occupancy.h says, {launchable} launchable",
            blocks.len(),
            blocks.len()
        );
    }
}

/// Number of cases for each architecture.
fn cases() -> usize {
    if in_full() { 100_000 } else { 10_000 }
}

fn build(program: &Path) {
    let header = cuda_occupancy().expect("the header was found just now");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/occupancy/vendor.cpp");
    let compiler = ["g++", "clang++", "clang++-22", "clang++-19"]
        .into_iter()
        .find(|compiler| {
            let found = Command::new(compiler).arg("--version").output();
            found.is_ok_and(|output| output.status.success())
        });
    let mut command = Command::new(compiler.expect("a C++ compiler was found just now"));
    command
        .arg("-O1")
        .arg("-I")
        .arg(header)
        .arg(source)
        .arg("-o")
        .arg(program);
    kiln_tests::command::expect_code(&mut command, 0);
}

/// A random block: common and uncommon sizes, up to slightly more than every limit.
fn block(rng: &mut ChaCha8Rng, known: &KnownTarget) -> BlockNeeds {
    let most_shared = known.limits.shared_bytes_per_block;
    let threads = match rng.random_range(0..4) {
        0 => 1 << rng.random_range(0..=10),
        1 => 32 * rng.random_range(1..=32),
        _ => rng.random_range(1..=1056),
    };
    // The header accepts 256 registers, which compilers do not.
    let registers = match rng.random_range(0..8) {
        0 => rng.random_range(257..=300),
        _ => rng.random_range(0..=255),
    };
    let static_shared = match rng.random_range(0..3) {
        0 => 0,
        1 => 1024 * rng.random_range(0..=STATIC_SHARED_BYTES / 1024),
        _ => rng.random_range(0..=STATIC_SHARED_BYTES),
    };
    let dynamic_shared = match rng.random_range(0..4) {
        0 | 1 => 0,
        2 => edge(rng, static_shared, most_shared),
        _ => rng.random_range(0..=most_shared),
    };
    BlockNeeds {
        threads,
        registers,
        static_shared_bytes: static_shared,
        dynamic_shared_bytes: dynamic_shared,
        barriers: rng.random_range(0..=16),
    }
}

/// An amount of dynamic shared memory whose sum with the static shared memory is close to the maximum of a block, or to
/// 48 KiB.
fn edge(rng: &mut impl Rng, static_shared: u32, most_shared: u32) -> u32 {
    let around = if rng.random() {
        most_shared
    } else {
        STATIC_SHARED_BYTES
    };
    (around + rng.random_range(0..=256))
        .saturating_sub(128)
        .saturating_sub(static_shared)
}

/// The results of the vendor's header, one line per block.
fn ask(program: &Path, known: &KnownTarget, sm: &NvidiaSm, blocks: &[BlockNeeds]) -> Vec<String> {
    let (major, minor) = known.arch.trim_start_matches("sm_").split_at(1);
    let device = format!(
        "{major} {minor} {} {} {} {} {} {STATIC_SHARED_BYTES} {} {} {}",
        known.limits.max_threads_per_block,
        sm.max_threads,
        sm.registers_per_block,
        sm.registers,
        known.limits.multiprocessors,
        sm.shared_bytes,
        known.limits.shared_bytes_per_block,
        sm.reserved_shared_bytes
    );
    let mut questions = String::new();
    for block in blocks {
        writeln!(
            questions,
            "{device} {} {} {} {} {}",
            block.threads,
            block.registers,
            block.static_shared_bytes,
            block.dynamic_shared_bytes,
            block.barriers
        )
        .expect("text can be written");
    }
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program should start");
    let mut input = child.stdin.take().expect("its input is a pipe");
    let writer = std::thread::spawn(move || input.write_all(questions.as_bytes()));
    let output = child.wait_with_output().expect("the program should end");
    writer
        .join()
        .expect("the writer should end")
        .expect("the questions should be taken");
    let text = String::from_utf8(output.stdout).expect("the answers should be text");
    text.lines().map(str::to_owned).collect()
}

/// Kiln's result in the format of the header: the blocks, each limit, and the limiting factors as bits. The header
/// considers barriers last, so the other limits are compared with the number of blocks that fit if barriers are
/// ignored.
fn line(limits: &BlockLimits) -> String {
    let signed = |limit: u32| i32::try_from(limit).unwrap_or(i32::MAX);
    let (_, blocks) = limits.least();
    let without_barriers = BlockLimits {
        barriers: u32::MAX,
        ..*limits
    };
    let (_, before) = without_barriers.least();
    let factors: u32 = limits
        .named()
        .into_iter()
        .map(|(limiter, limit)| factor(limiter, limit, before, blocks))
        .sum();
    format!(
        "{} {} {} {} {} {} {factors}",
        signed(blocks),
        signed(limits.threads),
        signed(limits.blocks),
        signed(limits.registers),
        signed(limits.shared),
        signed(limits.barriers)
    )
}

/// The header's bit for a limit, or 0 if it is not a limiting factor.
fn factor(limiter: Limiter, limit: u32, before: u32, blocks: u32) -> u32 {
    let (bit, least) = match limiter {
        Limiter::Threads => (1, before),
        Limiter::Registers => (2, before),
        Limiter::Shared => (4, before),
        Limiter::Blocks => (8, before),
        Limiter::Barriers => (16, blocks),
    };
    if limit == least { bit } else { 0 }
}
