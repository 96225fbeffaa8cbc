//! The commands, on a package whose kernels exceed each limit of a launch.

use std::fs;
use std::path::Path;

use kiln_spec::targets::KnownTarget;
use kiln_tests::capability::in_full;
use kiln_tests::command::{expect_code, stderr, stdout, tune_alone, workspace};
use serde_json::Value;
use tempfile::TempDir;

const FILES: [(&str, &str); 4] = [
    (
        "Cargo.toml",
        "[package]\nname = \"limits\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
    ),
    (
        "src/lib.rs",
        include_str!("../../../fixtures/limits/src/lib.rs"),
    ),
    (
        "src/bounded.cu",
        include_str!("../../../fixtures/limits/src/bounded.cu"),
    ),
    (
        "src/through.cu",
        include_str!("../../../fixtures/limits/src/through.cu"),
    ),
];

fn package() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary directory should be had");
    fs::create_dir(folder.path().join("src")).expect("a folder should be made");
    for (path, text) in FILES {
        fs::write(folder.path().join(path), text).expect("a file should be written");
    }
    folder
}

fn run(root: &Path, words: &str, code: i32) -> (String, String) {
    let mut command = tune_alone(root, &root.join("cache"));
    let output = expect_code(command.args(words.split(' ')), code);
    (stdout(&output), stderr(&output))
}

fn json(root: &Path, words: &str, code: i32) -> Value {
    let (text, _) = run(root, words, code);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// For each reason, the number of configs of `through` that a target cannot launch, and the number that it can launch.
fn expected(known: &KnownTarget) -> (Vec<(&'static str, u64)>, u64) {
    match known.arch {
        // 64 KiB of static shared memory exceed the limit of every CUDA compiler. 16 KiB of static plus 88 KiB of
        // dynamic shared memory exceed 99 KiB. Of the configs that neither excludes, those with 128 values per thread
        // in 1,024 threads exceed the registers.
        "sm_86" | "sm_89" => (
            vec![
                ("compile failed", 8),
                ("registers over a block's", 3),
                ("shared memory over a block's", 4),
            ],
            9,
        ),
        "sm_90" => (
            vec![("compile failed", 8), ("registers over a block's", 4)],
            12,
        ),
        // 88 KiB of dynamic shared memory are excluded before anything is compiled. The compiler does not reject blocks
        // that have too many threads for the registers.
        "gfx1151" => (Vec::new(), 12),
        other => panic!("what is expected of {other} should be written down here"),
    }
}

#[test]
fn what_cannot_launch_is_recorded_with_its_reason_and_not_compiled_again() {
    let name = "what_cannot_launch_is_recorded_with_its_reason_and_not_compiled_again";
    let targets = super::targets(name);
    // One target per backend, or all targets in full measurements.
    let few = targets.chunk_by(|one, next| one.backend == next.backend);
    let few: Vec<_> = few.map(|group| group[0]).collect();
    for known in if in_full() { targets } else { few } {
        let package = package();
        let words = format!("run --target {} --compile-only --json", known.arch);
        let reports = json(package.path(), &words, 0);
        let [bounded, through] = ["bounded", "through"].map(|kernel| task(&reports, kernel));
        assert_eq!(
            counts(&bounded),
            [("threads over launch bounds".to_owned(), 1)],
            "{}",
            known.arch
        );
        let (excluded, launchable) = expected(known);
        let found = counts(&through);
        let found: Vec<_> = found
            .iter()
            .map(|(reason, count)| (reason.as_str(), *count))
            .collect();
        assert_eq!(
            (found, through["launchable"].as_u64()),
            (excluded, Some(launchable)),
            "{}",
            known.arch
        );
        assert_eq!(through["checked"], through["valid"], "{}", known.arch);
        assert!(reports[0]["compiles"].as_u64() > Some(0), "{reports}");

        let again = json(package.path(), &words, 0);
        assert_eq!(again[0]["compiles"], 0, "{}", known.arch);
        assert_eq!(
            task(&again, "through")["excluded"],
            through["excluded"],
            "{}",
            known.arch
        );
        recorded(package.path(), known, &found_reasons(&through));
    }
}

fn task(reports: &Value, kernel: &str) -> Value {
    let tasks = reports[0]["tasks"]
        .as_array()
        .expect("a report lists tasks");
    let found = tasks.iter().find(|task| task["kernel"] == kernel);
    found
        .unwrap_or_else(|| panic!("no task of {kernel}: {reports}"))
        .clone()
}

fn counts(task: &Value) -> Vec<(String, u64)> {
    let excluded = task["excluded"]
        .as_object()
        .expect("exclusions are counted by reason");
    excluded
        .iter()
        .map(|(reason, count)| (reason.clone(), count.as_u64().unwrap_or(0)))
        .collect()
}

fn found_reasons(task: &Value) -> Vec<String> {
    counts(task)
        .into_iter()
        .map(|(reason, _)| reason)
        .filter(|reason| reason != "compile failed")
        .collect()
}

/// Checks that the reasons are stored in the cache, under a device that stands for compiling only.
fn recorded(root: &Path, known: &KnownTarget, reasons: &[String]) {
    let (all, _) = run(root, "cache export", 0);
    let device = format!("{}/{}/compile-only", known.backend, known.arch);
    assert!(all.contains(&device), "{device}: {all}");
    for reason in reasons {
        assert!(all.contains(reason.as_str()), "{reason}: {all}");
    }
}

#[test]
fn inspect_prints_what_each_config_takes_up() {
    for known in super::targets("inspect_prints_what_each_config_takes_up") {
        let package = package();
        let arch = known.arch;
        let config = "ITEMS=128,THREADS=128,STATIC=4096,DYNAMIC=0";
        let words = format!("inspect through --target {arch} --config {config} --json");
        let rows = json(package.path(), &words, 0);
        let figures = &rows[0]["figures"];
        assert_eq!(rows.as_array().map(Vec::len), Some(1), "{rows}");
        assert_eq!(figures["static_shared_bytes"], 16_384, "{arch}: {rows}");
        assert_eq!(figures["threads"], 128, "{arch}: {rows}");
        assert!(figures["registers"].as_u64() > Some(100), "{arch}: {rows}");
        assert!(
            figures["blocks_per_multiprocessor"].as_u64() > Some(0),
            "{arch}: {rows}"
        );

        // Without arguments, the command prints the baseline as a table with a heading, because no row is baked.
        let (table, _) = run(package.path(), &format!("inspect --target {arch}"), 0);
        assert!(
            table.starts_with(&format!("{arch} ({})", known.product)),
            "{table}"
        );
        assert_eq!(table.matches("\n  baseline ").count(), 2, "{table}");
        assert!(table.contains("limited by"), "{table}");
    }
}

#[test]
fn inspect_tells_what_cannot_launch_and_fails() {
    for known in super::targets("inspect_tells_what_cannot_launch_and_fails") {
        let package = package();
        let config = "BOUND=128,THREADS=256";
        let words = format!("inspect bounded --target {} --config {config}", known.arch);
        let (table, _) = run(package.path(), &words, 1);
        assert!(
            table.contains("threads over launch bounds: 256 threads per block"),
            "{table}"
        );
    }
}

#[test]
fn a_kernel_without_baked_rows_is_named() {
    for known in super::targets("a_kernel_without_baked_rows_is_named") {
        let words = format!("inspect bounded --target {} --baked", known.arch);
        let (table, said) = run(package().path(), &words, 0);
        assert!(table.trim().is_empty(), "{table}");
        assert!(said.contains("bounded: no baked rows\nhelp: "), "{said}");
    }
}

#[test]
fn a_target_without_its_compiler_does_not_stop_the_others() {
    let targets = super::targets("a_target_without_its_compiler_does_not_stop_the_others");
    let amd = targets
        .into_iter()
        .filter(|known| known.arch.starts_with("gfx"));
    for known in amd {
        let package = package();
        let mut command = tune_alone(package.path(), &package.path().join("cache"));
        command.args([
            "inspect", "--target", "sm_86", "sm_89", known.arch, "bounded",
        ]);
        let output = expect_code(command.env("KILN_NVRTC", "/nowhere"), 1);
        let (table, said) = (stdout(&output), stderr(&output));
        assert!(table.starts_with(&format!("{} (", known.arch)), "{table}");
        assert!(said.contains("not compiled for sm_86, sm_89: "), "{said}");
    }
}

#[test]
fn a_variable_that_names_no_nvrtc_is_to_be_corrected() {
    let package = package();
    let mut command = tune_alone(package.path(), &package.path().join("cache"));
    command.args(["inspect", "--target", "sm_89"]);
    let output = expect_code(command.env("KILN_NVRTC", "/nowhere"), 1);
    let said = stderr(&output);
    assert!(said.contains("KILN_NVRTC=/nowhere"), "{said}");
    assert!(said.contains("help: set KILN_NVRTC to"), "{said}");
    assert!(!said.contains("pip install"), "{said}");
}

#[test]
fn on_the_cpu_inspect_says_which_way_a_config_runs_and_why() {
    let package = package();
    let (said, _) = run(package.path(), "inspect --target cpu", 0);
    for line in [
        "baseline: loop (block of 128): it reaches no barrier and no warp operation",
        "baseline: fibres (block of 128): it reaches __syncthreads",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    // Only one of these configs of the library's kernel compiles the barrier.
    let config = |staging: &str| {
        let words = "inspect -p kiln-kernels transpose --target cpu --problem T=f32,rows=1000,cols=3001 --config";
        let config = format!("TILE=32,THREAD_ROWS=8,STAGING={staging},PADDING=0,WALK=0");
        let mut command = tune_alone(&workspace(), &package.path().join("cache"));
        command.args(words.split(' ')).arg(config);
        stdout(&expect_code(&mut command, 0))
    };
    assert!(config("none").contains("loop (block of 256): it reaches no barrier"));
    assert!(config("shared").contains("fibres (block of 256): it reaches __syncthreads"));
}

#[test]
fn targets_and_configs_that_make_no_sense_are_refused() {
    let package = package();
    let refused = |words: &str, code: i32, says: &str| {
        let (_, errors) = run(package.path(), words, code);
        assert!(errors.contains(says), "{words}: {errors}");
    };
    refused(
        "inspect --target sm_20",
        3,
        "error: there is no target `sm_20` (known: sm_86, sm_89, sm_90, gfx1151)",
    );
    refused(
        "run --target cpu --compile-only",
        3,
        "error: there is no target `cpu`",
    );
    refused(
        "inspect nothing",
        1,
        "error: no kernel `nothing` (found: bounded, through)",
    );
    refused("run --target sm_89", 2, "--compile-only");
    refused("run --compile-only", 2, "--target <ARCH>");
    refused(
        "run --target sm_89 --compile-only --device cpu",
        2,
        "cannot be used with",
    );
}
