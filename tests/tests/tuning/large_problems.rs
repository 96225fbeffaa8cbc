//! Problems whose data takes the host far longer to handle than a launch takes on the device. Trials are verified on
//! small problems, and finalists on the tuned problem.
use std::fs;
use std::path::Path;
use std::process::Command;

use kiln_tests::capability::{Need, have, in_full};
use kiln_tests::command::{expect_code, stdout, tune};
use serde_json::{Value, json};

const MANIFEST: &str =
    "[package]\nname = \"large\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";

/// With `WRONG`, the kernel writes zeros after the first five million elements, which is wrong only for the tuned
/// problem. A config with `WRONG` omits most of the work of the correct configs, so it wins the race even on a busy
/// machine.
const SOURCE: &str = r#"
extern "C" __global__ void twice(unsigned n, const float* x, float* y) {
    unsigned first = (blockIdx.x * THREADS + threadIdx.x) * ITEMS;
    for (unsigned i = first; i < first + ITEMS && i < n; ++i) {
        float least = x[i];
        for (int more = 1; more < (WRONG ? 1 : 16); ++more) least = fminf(least, x[i] + more);
        y[i] = (WRONG && i >= 5000000) ? 0.0f : 2.0f * least;
    }
}
"#;

const CRATE: &str = r#"
use kiln::tuned_kernel;

#[tuned_kernel(
    source = "twice.cu",
    params(THREADS in [64], ITEMS in [1, 8], WRONG in [false, true]),
    baseline(THREADS = 64, ITEMS = 1, WRONG = false),
    grid(n.div_ceil(THREADS * ITEMS)),
    block(THREADS),
    problems((n = 6000000)),
    tolerance(relative = 1e-6),
)]
unsafe extern "C" {
    pub fn twice(n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]);
}
"#;

/// The fixture with the search space of the library's `tensor_add`. The fake device recognises the kernel by its name.
const ADDING: &str = r#"
use kiln::tuned_kernel;

#[tuned_kernel(
    source = "add.cu",
    params(VECTOR_WIDTH in [1, 2, 4], THREADS in [64, 128, 256, 512, 1024], ITEMS in [1, 2, 4]),
    baseline(VECTOR_WIDTH = 1, THREADS = 256, ITEMS = 1),
    grid(n.div_ceil(VECTOR_WIDTH * THREADS * ITEMS)),
    block(THREADS),
    problems((n = SIZE)),
    tolerance(relative = 1e-6),
)]
unsafe extern "C" {
    pub fn tensor_add(
        n: u32,
        #[len(n)] #[align(VECTOR_WIDTH)] a: &[f32],
        #[len(n)] #[align(VECTOR_WIDTH)] b: &[f32],
        #[len(n)] #[align(VECTOR_WIDTH)] c: &mut [f32],
    );
}
"#;

const ADDING_SOURCE: &str = r#"
extern "C" __global__ void tensor_add(unsigned int n, const float* a, const float* b, float* c)
{
    for (int item = 0; item < ITEMS; item++) {
        unsigned int i = ((blockIdx.x * ITEMS + item) * THREADS + threadIdx.x) * VECTOR_WIDTH;
        for (int k = 0; k < VECTOR_WIDTH; k++) if (i + k < n) c[i + k] = a[i + k] + b[i + k];
    }
}
"#;

fn package(root: &Path, files: &[(&str, &str)]) {
    fs::create_dir(root.join("src")).expect("a folder should be made");
    fs::write(root.join("Cargo.toml"), MANIFEST).expect("a file should be written");
    for (path, text) in files {
        fs::write(root.join("src").join(path), text).expect("a file should be written");
    }
}

fn json(command: &mut Command) -> Value {
    let text = stdout(&expect_code(command, 0));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_config_that_is_wrong_only_for_the_large_problem_fails_as_a_finalist() {
    let test = "a_config_that_is_wrong_only_for_the_large_problem_fails_as_a_finalist";
    if !have(test, &[Need::HostCompiler]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder should be made");
    let root = folder.path();
    package(root, &[("lib.rs", CRATE), ("twice.cu", SOURCE)]);
    let cache = root.join("cache");
    let mut run = tune(root, &cache);
    run.args("run --device cpu --trials all --budget full --json".split(' '));
    let report = json(&mut run);
    let winner = &report["tasks"][0]["winner"];
    let config = winner["config"].as_str().unwrap_or_default();
    assert!(!config.contains("WRONG=true"), "{winner:#}");
    let outcomes = &report["tasks"][0]["outcomes"];
    // The config that won the race was verified. The other wrong config may have lost its race.
    assert!(outcomes["incorrect"].as_u64() >= Some(1), "{outcomes:#}");
}

#[test]
fn a_large_problem_of_a_gpu_is_tuned_to_the_same_verdict_without_launching_it_for_every_trial() {
    let folder = tempfile::tempdir().expect("a folder should be made");
    let root = folder.path();
    let size = if in_full() { "33554432" } else { "2000000" };
    let crate_ = ADDING.replace("SIZE", size);
    package(root, &[("lib.rs", &crate_), ("add.cu", ADDING_SOURCE)]);
    let wrong = json!({"when": {"config": {"ITEMS": "4"}}, "output": "last_wrong"});
    let script = json!({
        "seed": 1,
        "computes_timed": false,
        "timer_tick_ns": 10_000,
        "time": {"base_ns": 134_000.0, "rugged": 1.5, "factors": {"VECTOR_WIDTH": {"4": 0.8, "2": 0.9}}},
        "noise": {"sigma": 0.005, "placement_sigma": 0.005},
        "rules": [wrong],
    });
    fs::write(root.join("script.json"), script.to_string()).expect("a file should be written");
    let mut run = tune(root, &root.join("cache"));
    run.args("run --trials all --budget full --json --device".split(' '));
    run.arg(format!("fake:{}", root.join("script.json").display()));
    let report = json(&mut run);
    let task = &report["tasks"][0];
    assert!(task["winner"]["verdict"]["proven"].is_object(), "{task:#}");
    assert_eq!(task["outcomes"]["measured"], 29, "{task:#}");
    assert_eq!(task["outcomes"]["incorrect"], 15, "{task:#}");
    let spent = |part: &str| task["spent"][part].as_u64().unwrap_or(u64::MAX);
    let trials_ns = spent("verify_ns") + spent("race_ns") + spent("compile_ns");
    let rate = 44e9 / trials_ns as f64;
    println!("n = {size}: {rate:.1} trials a second of host time");
    assert!(!in_full() || rate >= 10.0, "{rate}");
}
