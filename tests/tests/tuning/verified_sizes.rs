//! Kernels that are wrong only for sizes that a constraint, a fixed grid or the choice of the tuned problem would hide.
//! In each of them, the wrong configs are the fastest.

use std::fs;
use std::path::Path;
use std::process::Command;

use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stdout, tune};
use serde_json::Value;

const MANIFEST: &str =
    "[package]\nname = \"sizes\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";

/// Slow work, which the wrong configs omit.
const SLOW: &str = r#"
static __device__ float slow(float x) {
    float g = 1.0f;
    for (int step = 0; step < 24; ++step) g = 0.5f * (g + (x * x + 1.0f) / g);
    return 2.0f * x + 1e-30f * g;
}
"#;

/// The arguments of most kernels.
pub const ARGUMENTS: &str = "n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]";

/// The command that tunes a kernel `k` with these declarations and this source.
pub fn tune_command(root: &Path, (attribute, arguments): (&str, &str), source: &str) -> Command {
    let declaration = format!(
        "use kiln::tuned_kernel;\n#[tuned_kernel(source = \"k.cu\", untuned = allow, {attribute})]\n\
         unsafe extern \"C\" {{\n    pub fn k({arguments});\n}}\n"
    );
    fs::create_dir(root.join("src")).expect("a folder should be made");
    fs::write(root.join("Cargo.toml"), MANIFEST).expect("a file should be written");
    fs::write(root.join("src/lib.rs"), declaration).expect("a file should be written");
    fs::write(root.join("src/k.cu"), format!("{SLOW}{source}")).expect("a file should be written");
    let mut run = tune(root, &root.join("cache"));
    run.args("run --device cpu --trials all --budget full --json".split(' '));
    run
}

/// Tunes a kernel `k` with these declarations and this source. Returns the report of its only problem.
fn tuned(root: &Path, declared: (&str, &str), source: &str) -> Value {
    let mut run = tune_command(root, declared, source);
    let text = stdout(&expect_code(&mut run, 0));
    let report: Value = serde_json::from_str(&text).expect("the report should be JSON");
    report["tasks"][0].clone()
}

/// Number of runs after which a config that should be the fastest counts as slower.
const RUNS: usize = 4;

/// Tunes a kernel `k` with these declarations and this source. Returns the report, if the test can run here. Another program
/// can make the fastest config slower, so there are several runs if `is_decided` says that the report shows nothing.
pub fn tunes(
    test: &str,
    declared: (&str, &str),
    source: &str,
    is_decided: impl Fn(&Value) -> bool,
) -> Option<Value> {
    if !have(test, &[Need::HostCompiler]) {
        return None;
    }
    let mut task = Value::Null;
    for _ in 0..RUNS {
        let folder = tempfile::tempdir().expect("a folder should be made");
        task = tuned(folder.path(), declared, source);
        if is_decided(&task) {
            break;
        }
    }
    Some(task)
}

pub fn winner(task: &Value) -> &str {
    task["winner"]["config"].as_str().unwrap_or_default()
}

/// Tunes a kernel, and checks that no config fails and that the one with `config` in its text wins.
pub fn wins(test: &str, declared: (&str, &str), source: &str, config: &str) {
    let wins = |task: &Value| winner(task).contains(config);
    let fails = |task: &Value| {
        let outcomes = task["outcomes"].as_object();
        outcomes.is_none_or(|outcomes| outcomes.keys().any(|outcome| outcome != "measured"))
    };
    let is_decided = |task: &Value| wins(task) || fails(task);
    if let Some(task) = tunes(test, declared, source, is_decided) {
        assert!(wins(&task) && !fails(&task), "{task:#}");
    }
}

/// Tunes a kernel as [`tuned`] does, and checks that configs with `wrong` in their text failed with `outcome` and did
/// not win.
fn refuses(test: &str, attribute: &str, source: &str, wrong: (&str, &str)) {
    refuses_with(test, (attribute, ARGUMENTS), source, wrong);
}

/// Like [`refuses`], for a kernel with these arguments. Returns the report, if the test can run here.
pub fn refuses_with(
    test: &str,
    declared: (&str, &str),
    source: &str,
    (wrong, outcome): (&str, &str),
) -> Option<Value> {
    let fails = |task: &Value| task["outcomes"][outcome].as_u64() >= Some(1);
    let is_decided = |task: &Value| fails(task) || winner(task).contains(wrong);
    let task = tunes(test, declared, source, is_decided)?;
    assert!(fails(&task) && !winner(&task).contains(wrong), "{task:#}");
    Some(task)
}

#[test]
fn a_config_that_is_wrong_on_a_declared_size_fails_although_another_config_excludes_the_size() {
    refuses(
        "a_config_that_is_wrong_on_a_declared_size_fails_although_another_config_excludes_the_size",
        "params(THREADS in [64, 256], VEC in [1, 4]), where(VEC == 1 || n % 4 == 0),
         baseline(THREADS = 64, VEC = 1), grid(n.div_ceil(THREADS * VEC)), block(THREADS), problems((n = 40000)),
         verify((n = 7), (n = 4096))",
        r#"
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned first = (blockIdx.x * THREADS + threadIdx.x) * VEC;
    for (unsigned i = first; i < first + VEC && i < n; ++i) {
#if THREADS == 256 && VEC == 1
        y[i] = n % 4 == 3 ? 0.0f : 2.0f * x[i];
#else
        y[i] = slow(x[i]);
#endif
    }
}
"#,
        ("THREADS=256,VEC=1", "incorrect"),
    );
}

#[test]
fn a_config_that_no_shared_size_fits_is_verified_on_ragged_sizes_of_its_own() {
    refuses(
        "a_config_that_no_shared_size_fits_is_verified_on_ragged_sizes_of_its_own",
        "params(THREADS in [64], VEC in [1, 4]), where(VEC == 1 || n % 4 == 0), baseline(THREADS = 64, VEC = 1),
         grid(n.div_ceil(THREADS * VEC)), block(THREADS), problems((n = 40960))",
        r#"
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned first = (blockIdx.x * THREADS + threadIdx.x) * VEC;
    for (unsigned i = first; i < first + VEC && i < n; ++i) {
#if VEC == 4
        y[i] = n > 256 && n < 8192 && n % 256 != 0 ? 0.0f : 2.0f * x[i];
#else
        y[i] = slow(x[i]);
#endif
    }
}
"#,
        ("VEC=4", "incorrect"),
    );
}

#[test]
fn a_config_is_not_verified_on_sizes_of_its_own_that_the_baseline_does_not_support() {
    wins(
        "a_config_is_not_verified_on_sizes_of_its_own_that_the_baseline_does_not_support",
        (
            "params(THREADS in [64], VEC in [1, 4]), where(VEC == 1 || n % 4 == 0), baseline(THREADS = 64, VEC = 1),
             grid(n.div_ceil(THREADS * VEC)), block(THREADS), problems((n = 40960)), verify((n = 7), (n = 4095))",
            ARGUMENTS,
        ),
        r#"
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    if (n > 256 && n < 4000 && n % 256 != 0) return;
    const unsigned first = (blockIdx.x * THREADS + threadIdx.x) * VEC;
    for (unsigned i = first; i < first + VEC && i < n; ++i) y[i] = VEC == 4 ? 2.0f * x[i] : slow(x[i]);
}
"#,
        "VEC=4",
    );
}

#[test]
fn a_config_that_no_small_size_fits_is_run_in_the_check_build() {
    refuses(
        "a_config_that_no_small_size_fits_is_run_in_the_check_build",
        "params(THREADS in [64], SPLIT in [false, true]), where(!SPLIT || n >= 16384),
         baseline(THREADS = 64, SPLIT = false), grid(n.div_ceil(THREADS)), block(THREADS), problems((n = 50000))",
        // Without the barrier, the result is right only if the threads run in ascending order.
        r#"
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    __shared__ float s[THREADS];
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    s[threadIdx.x] = i < n ? x[i] : 0.0f;
#if !SPLIT
    __syncthreads();
    if (i < n) y[i] = 0.0f * slow(x[i]) + s[threadIdx.x & ~7u];
#else
    if (i < n) y[i] = s[threadIdx.x & ~7u];
#endif
}
"#,
        ("SPLIT=true", "race"),
    );
}

#[test]
fn a_config_whose_ragged_end_is_wrong_after_the_first_sweep_of_a_fixed_grid_fails() {
    refuses(
        "a_config_whose_ragged_end_is_wrong_after_the_first_sweep_of_a_fixed_grid_fails",
        "params(BLOCKS in [8], VEC in [1, 4]), baseline(BLOCKS = 8, VEC = 1), grid(BLOCKS), block(128),
         problems((n = 40960))",
        r#"
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned stride = gridDim.x * blockDim.x;
    const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
#if VEC == 1
    for (unsigned i = first; i < n; i += stride) y[i] = slow(x[i]);
#else
    for (unsigned i = first; VEC * i < n; i += stride)
        for (unsigned j = VEC * i; j < VEC * i + VEC && j < n; ++j)
            y[j] = i >= stride && VEC * i + VEC > n && n < 8192 ? 0.0f : 2.0f * x[j];
#endif
}
"#,
        ("VEC=4", "incorrect"),
    );
}

#[test]
fn a_finalist_that_is_wrong_on_the_size_next_to_the_tuned_one_fails_and_the_text_names_the_size() {
    let task = refuses_with(
        "a_finalist_that_is_wrong_on_the_size_next_to_the_tuned_one_fails_and_the_text_names_the_size",
        (
            "params(THREADS in [64], WRONG in [false, true]), baseline(THREADS = 64, WRONG = false),
             grid(n.div_ceil(THREADS)), block(THREADS), problems((n = 50000))",
            ARGUMENTS,
        ),
        r#"
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
#if WRONG
    if (i < n) y[i] = n > 10000 && n % 16 == 15 ? 0.0f : 2.0f * x[i];
#else
    if (i < n) y[i] = slow(x[i]);
#endif
}
"#,
        ("WRONG=true", "incorrect"),
    );
    if let Some(task) = task {
        assert!(task.to_string().contains("with n=49999"), "{task:#}");
    }
}

#[test]
fn a_right_kernel_with_large_sizes_alone_is_checked_on_its_tuned_problem() {
    let test = "a_right_kernel_with_large_sizes_alone_is_checked_on_its_tuned_problem";
    if !have(test, &[Need::HostCompiler]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder should be made");
    // The history of accesses takes 128 bytes of address space for each of the 34 MB.
    let task = tuned(
        folder.path(),
        (
            "params(THREADS in [64]), where(n % 4194304 == 0), baseline(THREADS = 64), grid(n / (64 * THREADS)),
             block(THREADS), problems((n = 4194304))",
            ARGUMENTS,
        ),
        r#"
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned first = (blockIdx.x * THREADS + threadIdx.x) * 64;
    for (unsigned i = first; i < first + 64; ++i) y[i] = 2.0f * x[i];
}
"#,
    );
    assert!(task["winner"].is_object(), "{task:#}");
}

#[test]
fn a_config_is_not_verified_on_sizes_whose_launch_exceeds_a_limit_of_the_device() {
    let test = "a_config_is_not_verified_on_sizes_whose_launch_exceeds_a_limit_of_the_device";
    if !have(test, &[Need::HostCompiler]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder should be made");
    // Sizes are derived from tiles of 8,192 elements. With `KEEP`, they need more than 48 KiB of shared memory.
    let attribute = "params(THREADS in [64], ITEMS in [1, 128], KEEP in [0, 1]),
        baseline(THREADS = 64, ITEMS = 1, KEEP = 0), grid(n.div_ceil(THREADS * ITEMS)), block(THREADS),
        shared(KEEP * 4 * n), problems((n = 4096))";
    let source = r#"
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned first = (blockIdx.x * THREADS + threadIdx.x) * ITEMS;
    for (unsigned i = first; i < first + ITEMS && i < n; ++i) y[i] = (1 + KEEP) * x[i] / (1 + KEEP);
}
"#;
    let task = tuned(folder.path(), (attribute, ARGUMENTS), source);
    let count = |outcome: &str| task["outcomes"][outcome].as_u64();
    assert_eq!(
        (count("measured"), count("launch refused")),
        (Some(3), None),
        "{task:#}"
    );
}

#[test]
fn a_race_on_large_problems_alone_is_found() {
    refuses(
        "a_race_on_large_problems_alone_is_found",
        "params(WRONG in [false, true]), baseline(WRONG = false), grid(n.div_ceil(64)), block(64),
         problems((n = 100000))",
        r#"
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    __shared__ float held[64];
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    held[threadIdx.x] = i < n ? x[i] : 0.0f;
    // The outputs are right in every order of the threads, since no input is 12345.
    if (!WRONG || n < 50000) __syncthreads();
    const float left = threadIdx.x > 0 ? held[threadIdx.x - 1] : 0.0f;
    const float more = left == 12345.0f ? 1.0f : 0.0f;
    if (i < n) y[i] = WRONG ? 2.0f * x[i] + more : slow(x[i]) + more;
}
"#,
        ("WRONG=true", "race"),
    );
}

#[test]
fn a_config_that_takes_one_extent_for_another_fails() {
    refuses_with(
        "a_config_that_takes_one_extent_for_another_fails",
        (
            "params(WRONG in [false, true]), baseline(WRONG = false), grid((r * c).div_ceil(64)), block(64),
             problems((r = 128, c = 128)), verify((r = 7, c = 7), (r = 64, c = 64))",
            "r: u32, c: u32, #[len(r * c)] x: &[f32], #[len(c)] w: &[f32], #[len(r * c)] y: &mut [f32]",
        ),
        r#"
extern "C" __global__ void k(unsigned r, unsigned c, const float* x, const float* w, float* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= r * c) return;
    if (WRONG) y[i] = 2.0f * x[i] * w[i % r < c ? i % r : 0];
    else y[i] = slow(x[i]) * w[i % c];
}
"#,
        ("WRONG=true", "incorrect"),
    );
}
