//! A/A decisions on the real cpu: if both sides are the same kernel, neither must be "proven" faster.

use kiln_tests::capability::{Need, have, in_full};
use kiln_tests::command::{expect_code, stdout, tune};
use serde_json::Value;

/// All configs compute the same values in the same way, because `SAME` has no effect.
const SOURCE: &str = r#"
extern "C" __global__ void twice(unsigned n, const float* x, float* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (SAME >= 0 && i < n) y[i] = x[i] * 2.0f;
}
"#;

const CRATE: &str = r#"
#[kiln::tuned_kernel(
    source = "twice.cu",
    params(SAME in [0, 1, 2, 3]),
    baseline(SAME = 0),
    grid(n.div_ceil(128)),
    block(128),
    problems(PROBLEMS),
    verify((n = 1), (n = 129)),
    tolerance(relative = 0.0),
)]
unsafe extern "C" {
    pub fn twice(n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]);
}
"#;

#[test]
fn at_most_one_of_a_hundred_equal_candidates_replaces_the_baseline() {
    if !have(
        "at_most_one_of_a_hundred_equal_candidates_replaces_the_baseline",
        &[Need::HostCompiler],
    ) {
        return;
    }
    // Each problem is a separate decision between equal configs.
    let decisions: usize = if in_full() { 100 } else { 6 };
    let problems: Vec<String> = (0..decisions)
        .map(|i| format!("(n = {})", 200_000 + 1000 * i))
        .collect();
    let directory = tempfile::tempdir().expect("a temporary directory should be had");
    let root = directory.path();
    std::fs::create_dir(root.join("src")).expect("a folder should be made");
    let manifest =
        "[package]\nname = \"equals\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
    let files = [
        ("Cargo.toml", manifest.to_owned()),
        (
            "src/lib.rs",
            CRATE.replace("PROBLEMS", &problems.join(", ")),
        ),
        ("src/twice.cu", SOURCE.to_owned()),
    ];
    for (path, text) in files {
        std::fs::write(root.join(path), text).expect("a file should be written");
    }
    let mut run = tune(root, &root.join("cache"));
    run.args([
        "run", "--json", "--budget", "full", "--trials", "all", "--device", "cpu",
    ]);
    let output = expect_code(&mut run, 0);
    let report: Value = serde_json::from_str(&stdout(&output)).expect("the report should be JSON");
    let tasks = report["tasks"]
        .as_array()
        .expect("the report should list tasks");
    assert_eq!(tasks.len(), decisions);
    let verdict = |task: &Value, name: &str| task["winner"]["verdict"][name].is_object();
    let replaced = tasks.iter().filter(|task| verdict(task, "proven")).count();
    let kept = tasks
        .iter()
        .filter(|task| verdict(task, "baseline_kept"))
        .count();
    println!(
        "equal candidates on the cpu: {replaced} of {decisions} decisions replaced the baseline"
    );
    assert_eq!(kept + replaced, decisions, "every problem is decided");
    assert!(
        replaced <= decisions.div_ceil(100),
        "{replaced} of {decisions}"
    );
}
