//! Kernels that users wrote, under each installed C++ compiler.

use std::path::Path;
use std::process::Command;

use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stdout};
use kiln_tests::throwaway::Throwaway;

use super::{json, outcomes, package, tune_in};

/// Every config except the baseline lacks a barrier. In forward order, the outputs are right nevertheless.
const RACE: &str = r"
extern __C__ __global__ void biased(unsigned n, const float* x, float* y) {
    __shared__ float bias;
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (threadIdx.x == 0) bias = x[0];
    if (BARRIER) __syncthreads();
    if (i < n) y[i] = x[i] * 2.0f + bias;
}
";

const RACE_CRATE: &str = r#"
use kiln::tuned_kernel;

#[tuned_kernel(
    source = "race.cu",
    params(THREADS in [64], BARRIER in [true, false]),
    baseline(THREADS = 64, BARRIER = true),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 20000)),
    verify((n = 1), (n = 65), (n = 1000)),
    tolerance(relative = 1e-6),
)]
unsafe extern "C" {
    pub fn biased(n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]);
}
"#;

/// The kernel does not handle the incomplete block at the end of the grid.
const UNWRITTEN: &str = r"
extern __C__ __global__ void ragged(unsigned n, const float* x, float* y) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = x[i] * 2.0f;
}
";

const UNWRITTEN_CRATE: &str = r#"
use kiln::tuned_kernel;

#[tuned_kernel(
    source = "unwritten.cu",
    params(THREADS in [64, 128]),
    baseline(THREADS = 64),
    grid(max(1, n / THREADS)),
    block(THREADS),
    problems((n = 1000)),
    verify((n = 64)),
    tolerance(relative = 1e-6),
)]
unsafe extern "C" {
    pub fn ragged(n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]);
}
"#;

/// A kernel with the name and the arguments of a kernel in the library, but another function: it reverses each row.
const CLASH: &str = r"
extern __C__ __global__ void transpose(unsigned rows, unsigned cols, const T* x, T* y) {
    const unsigned col = blockIdx.x * THREADS + threadIdx.x;
    if (col < cols) y[blockIdx.y * cols + col] = x[blockIdx.y * cols + (cols - 1 - col)];
}
";

const CLASH_CRATE: &str = r#"
use kiln::tuned_kernel;

#[tuned_kernel(
    source = "clash.cu",
    types(T in [f32]),
    params(THREADS in [64]),
    baseline(THREADS = 64),
    grid(cols.div_ceil(THREADS), rows),
    block(THREADS),
    problems((rows = 30, cols = 50)),
    tolerance(relative = 0),
)]
unsafe extern "C" {
    pub fn transpose(rows: u32, cols: u32, #[len(rows * cols)] x: &[T], #[len(rows * cols)] y: &mut [T]);
}
"#;

/// Runs a check once for each C++ compiler of this machine.
fn under_each_compiler(name: &str, check: impl Fn(&str)) {
    if !have(name, &[Need::HostCompiler]) {
        return;
    }
    let answers = |compiler: &str| {
        let asked = Command::new(compiler).arg("--version").output();
        asked.is_ok_and(|output| output.status.success())
    };
    let clang = ["clang++-22", "clang++-19", "clang++"]
        .into_iter()
        .find(|name| answers(name));
    for compiler in ["g++"]
        .into_iter()
        .filter(|name| answers(name))
        .chain(clang)
    {
        println!("{compiler}");
        check(compiler);
    }
}

fn run(root: &Path, compiler: &str, words: &str) -> Command {
    let mut command = tune_in(
        root,
        &format!("run --device cpu --budget full --trials all {words}"),
    );
    command.env("KILN_CXX", compiler);
    command
}

fn source(text: &str) -> String {
    text.replace("__C__", "\"C\"")
}

#[test]
fn a_race_that_forward_order_hides_is_rejected_and_called_a_race() {
    let name = "a_race_that_forward_order_hides_is_rejected_and_called_a_race";
    under_each_compiler(name, |compiler| {
        let package = package(&[("lib.rs", RACE_CRATE), ("race.cu", &source(RACE))]);
        let root = package.path();
        let text = stdout(&expect_code(&mut run(root, compiler, "--seed 1"), 0));
        assert!(text.contains("race 1"), "{text}");
        assert!(
            text.contains("race, for example THREADS=64,BARRIER=false: "),
            "{text}"
        );
        assert!(text.contains("tune report"), "{text}");
        assert!(!text.contains("  proven "), "{text}");
        let outcomes = outcomes(root);
        let (_, racy) = outcomes
            .iter()
            .find(|(config, _)| config.contains("BARRIER=false"))
            .unwrap_or_else(|| panic!("{outcomes:?}"));
        let said = racy["kernel_fault"]["text"].as_str().unwrap_or_default();
        assert!(said.contains("race: "), "{racy:#}");
    });
}

#[test]
fn a_race_in_the_baseline_is_an_error_about_the_baseline() {
    let name = "a_race_in_the_baseline_is_an_error_about_the_baseline";
    under_each_compiler(name, |compiler| {
        let crate_ = RACE_CRATE.replace("[true, false]", "[false]");
        let crate_ = crate_.replace("BARRIER = true", "BARRIER = false");
        let package = package(&[("lib.rs", &crate_), ("race.cu", &source(RACE))]);
        let text = stdout(&expect_code(
            &mut run(package.path(), compiler, "--seed 1"),
            1,
        ));
        let said = text
            .lines()
            .find(|line| line.contains("the baseline does not work: "));
        assert!(said.is_some_and(|line| line.contains("race: ")), "{text}");
    });
}

#[test]
fn the_smoke_test_of_a_baseline_with_a_race_fails_even_without_a_reference() {
    let name = "the_smoke_test_of_a_baseline_with_a_race_fails_even_without_a_reference";
    if !have(name, &[Need::HostCompiler]) {
        return;
    }
    let racing = RACE_CRATE.replace("[true, false]", "[false]");
    let racing = racing.replace("BARRIER = true", "BARRIER = false");
    let files = [
        ("src/lib.rs", racing.as_str()),
        ("src/race.cu", &source(RACE)),
    ];
    let crate_ = Throwaway::new("racing", &files);
    expect_code(&mut crate_.tune("init"), 0);
    let text = stdout(&expect_code(crate_.cargo().arg("test"), 101));
    for part in [
        "FAILED: kernel `biased_",
        "race: it ",
        "src/race.cu:7, which thread (0,0,0) of the block writes at src/race.cu:5",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

#[test]
fn an_output_that_the_baseline_never_writes_is_an_error_with_argument_and_index() {
    let name = "an_output_that_the_baseline_never_writes_is_an_error_with_argument_and_index";
    under_each_compiler(name, |compiler| {
        let package = package(&[
            ("lib.rs", UNWRITTEN_CRATE),
            ("unwritten.cu", &source(UNWRITTEN)),
        ]);
        let text = stdout(&expect_code(
            &mut run(package.path(), compiler, "--seed 1"),
            1,
        ));
        assert!(
            text.contains(
                "the baseline does not work: never written: y[960] (40 of the 1000 elements of `y`)"
            ),
            "{text}"
        );
        assert!(text.contains("help: write every element of `y`"), "{text}");
    });
}

#[test]
fn a_kernel_named_as_one_of_the_library_is_compared_with_its_own_baseline() {
    let name = "a_kernel_named_as_one_of_the_library_is_compared_with_its_own_baseline";
    under_each_compiler(name, |compiler| {
        let package = package(&[("lib.rs", CLASH_CRATE), ("clash.cu", &source(CLASH))]);
        let report = json(&mut run(package.path(), compiler, "--json"), 0);
        let task = &report["tasks"][0];
        assert_eq!(task["state"], "searched", "{report:#}");
        assert_eq!(task["winner"]["grade"], "baseline_only", "{report:#}");
    });
}

#[test]
fn a_mistake_in_one_kernel_does_not_stop_what_was_asked_for_another() {
    let broken = RACE_CRATE.replace("block(THREADS)", "block(THREDS)");
    let both = format!("{broken}\n{CLASH_CRATE}");
    let package = package(&[
        ("lib.rs", &both),
        ("race.cu", &source(RACE)),
        ("clash.cu", &source(CLASH)),
    ]);
    let root = package.path();
    let found = stdout(&expect_code(&mut tune_in(root, "list -k transpose"), 0));
    assert!(found.contains("transpose (wrong)"), "{found}");
    expect_code(&mut tune_in(root, "list -k biased"), 1);
    expect_code(&mut tune_in(root, "list"), 1);
}
