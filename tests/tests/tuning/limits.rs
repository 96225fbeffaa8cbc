//! The limits of `tune`: the budget of a run, the time of a compile and of a smoke test, and the limits of a target. Also
//! what a run prints on a terminal that shows no bars.

use std::process::Command;

use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stderr, stdout};
use kiln_tests::throwaway::Throwaway;

/// A library with one kernel. `attribute` ends the arguments of its attribute, and `body` is the body of the kernel.
fn library(name: &str, attribute: &str, body: &str) -> Throwaway {
    let library = format!(
        "//! One kernel.\nuse kiln::tuned_kernel;\n\n#[tuned_kernel(source = \"k.cu\", params(THREADS in [32, 2048]), \
         baseline(THREADS = 32), grid(n.div_ceil(THREADS)), block(THREADS), tolerance(relative = 1e-4), {attribute})]\n\
         unsafe extern \"C\" {{\n    /// A kernel.\n    pub fn k(n: i32, work: i32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]);\n}}\n"
    );
    let source = format!(
        "extern \"C\" __global__ void k(int n, int work, const float* x, float* y) {{\n    \
         const int i = blockIdx.x * THREADS + threadIdx.x;\n    if (i >= n) return;\n    float v = x[i];\n    {body}\n    \
         y[i] = v;\n}}\n"
    );
    Throwaway::new(name, &[("src/lib.rs", &library), ("src/k.cu", &source)])
}

const LOOP: &str = "if (i == 0) for (int a = 0; a < work; ++a) for (int b = 0; b < 1000; ++b) v = v * 0.999f + 0.001f;";

#[test]
fn a_baseline_that_the_budget_cannot_pay_for_is_told_with_the_budget_that_it_needs() {
    let name = "a_baseline_that_the_budget_cannot_pay_for_is_told_with_the_budget_that_it_needs";
    if !have(name, &[Need::HostCompiler]) {
        return;
    }
    let problems =
        "problems((n = 100, work = 5000000)), verify((n = 100, work = 3), (n = 31, work = 2))";
    let crate_ = library("slow", problems, LOOP);
    let mut run = crate_.tune("run --device cpu --budget 5s");
    let run = expect_code(&mut run, 0);
    let said = stdout(&run);
    assert!(said.contains("trials    0 of"), "{said}");
    assert!(said.contains("(the budget is too small)"), "{said}");
    assert!(
        said.contains("a run needs ") && said.contains("`--budget "),
        "{said}"
    );
    assert!(
        stderr(&run).starts_with("tune: 1 kernel problems"),
        "{}",
        stderr(&run)
    );
}

#[test]
fn a_first_launch_that_ends_but_leaves_no_time_for_a_trial_ends_the_task() {
    let name = "a_first_launch_that_ends_but_leaves_no_time_for_a_trial_ends_the_task";
    if !have(name, &[Need::HostCompiler]) {
        return;
    }
    // A launch takes about 3 s. A trial needs 32 launches, and the budget pays for them on no machine.
    let problems =
        "problems((n = 100, work = 900000)), verify((n = 100, work = 3), (n = 31, work = 2))";
    let crate_ = library("watched", problems, LOOP);
    let mut run = crate_.tune("run --device cpu --budget 20s");
    let said = stdout(&expect_code(&mut run, 0));
    assert!(said.contains("one launch takes "), "{said}");
    assert!(said.contains("trials    0 of"), "{said}");
}

#[test]
fn a_baseline_that_exceeds_the_limit_of_a_compile_is_told_how_to_raise_it() {
    let name = "a_baseline_that_exceeds_the_limit_of_a_compile_is_told_how_to_raise_it";
    if !have(name, &[Need::HostCompiler]) {
        return;
    }
    // No machine compiles two million statements in a second.
    let mut statements = String::from("\n#define D0 v += x[(i + work) % n];\n");
    for level in 1..=7 {
        let below = format!("D{} ", level - 1).repeat(8);
        statements += &format!("#define D{level} {below}\n");
    }
    statements += "D7\n";
    let crate_ = library("large", "problems((n = 100, work = 1))", &statements);
    let mut run = crate_.tune("run --device cpu --trials 1 --budget full");
    let run = expect_code(run.env("KILN_COMPILE_LIMIT_S", "1"), 1);
    let said = stdout(&run);
    assert!(
        said.contains("compile timed out after 1 s, the limit of a compile"),
        "{said}"
    );
    assert!(
        said.contains("help: set KILN_COMPILE_LIMIT_S=300"),
        "{said}"
    );
}

#[test]
fn a_smoke_test_of_an_endless_kernel_ends_by_its_own_limit() {
    let name = "a_smoke_test_of_an_endless_kernel_ends_by_its_own_limit";
    if !have(name, &[Need::HostCompiler]) {
        return;
    }
    let endless = "while (work > 0) { v += 1.0f; if (v < 0.0f) { y[i] = v; __threadfence(); } }";
    let crate_ = library("endless", "problems((n = 100, work = 1))", endless);
    let mut smoke = crate_.tune("smoke --device cpu");
    let smoke = expect_code(smoke.env("KILN_SMOKE_DEADLINE_S", "3"), 1);
    let said = stdout(&smoke);
    assert!(
        said.contains("it did not end within 3 s, the limit of a smoke test"),
        "{said}"
    );
    assert!(
        said.contains("help: look for a loop that does not end"),
        "{said}"
    );
}

#[test]
fn inspect_says_what_cannot_be_launched_and_leaves_out_kernels_of_other_devices() {
    let crate_ = library("blocks", "problems((n = 100, work = 1))", "");
    let mut inspect = crate_.tune("inspect --target cpu --config THREADS=2048");
    let inspect = expect_code(&mut inspect, 1);
    let said = stdout(&inspect);
    assert!(
        said.contains("cannot be launched on n=100,work=1: threads per block is 2048"),
        "{said}"
    );
    let crate_ = library("vendor", "problems((n = 100, work = 1)), only(cuda)", "");
    let inspect = expect_code(&mut crate_.tune("inspect --target cpu"), 0);
    let said = stderr(&inspect);
    assert!(
        said.contains("k: left out for cpu: its spec says `only(cuda)`"),
        "{said}"
    );
}

#[test]
fn inspect_checks_the_grid_of_a_gpu() {
    if !have("inspect_checks_the_grid_of_a_gpu", &[Need::Nvrtc]) {
        return;
    }
    let crate_ = library("tall", "problems((n = 100, work = 1))", "v += blockIdx.y;");
    let library = crate_.read("src/lib.rs").replace(
        "grid(n.div_ceil(THREADS))",
        "grid(n.div_ceil(THREADS), work)",
    );
    crate_.write("src/lib.rs", &library);
    let mut inspect = crate_.tune("inspect --target sm_86 --problem n=100,work=65536");
    let said = stdout(&expect_code(&mut inspect, 1));
    assert!(said.contains("grid y is 65536"), "{said}");
    let mut inspect = crate_.tune("inspect --target sm_86 --problem n=100,work=65535");
    expect_code(&mut inspect, 0);
}

/// Runs a command on a pseudo-terminal, and prints what the terminal shows.
const ON_A_TERMINAL: &str = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";

#[test]
fn a_terminal_that_shows_no_bars_gets_plain_lines() {
    let name = "a_terminal_that_shows_no_bars_gets_plain_lines";
    if !have(name, &[Need::HostCompiler, Need::Python]) {
        return;
    }
    let crate_ = library("dumb", "problems((n = 100, work = 1))", LOOP);
    for term in [Some("dumb"), None] {
        let run = crate_.tune("run --device cpu --trials 1");
        let mut terminal = Command::new("python3");
        terminal
            .args(["-c", ON_A_TERMINAL])
            .arg(run.get_program())
            .args(run.get_args());
        terminal
            .current_dir(crate_.path())
            .env_remove("CI")
            .env_remove("TERM");
        for (variable, value) in run.get_envs() {
            match value {
                Some(value) => terminal.env(variable, value),
                None => terminal.env_remove(variable),
            };
        }
        terminal
            .env_remove("CI")
            .envs(term.map(|term| ("TERM", term)));
        let said = stdout(&expect_code(&mut terminal, 0));
        assert!(said.contains("tune: 1 kernel problems"), "{term:?}: {said}");
        assert!(
            said.contains("tune: k (n=100,work=1): "),
            "{term:?}: {said}"
        );
    }
}
