//! Exchange of files with Kernel Tuner: spaces as T1, and results as T4 and as Kernel Tuner's cache files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use kiln_exchange::definition::Definition;
use kiln_exchange::recording::{Invalidity, RecordedTrial, Recording, read};
use kiln_search::SpaceView;
use kiln_tests::capability::{Need, have, in_full, kernel_tuner};
use kiln_tests::command::{expect_code, stdout, tune, workspace};
use kiln_tests::throwaway::Throwaway;
use serde_json::{Value, json};

/// The output of `fixtures/kernel_tuner/round_trip.py`, which calls Kernel Tuner.
fn kernel_tuner_says(words: &[&str], files: &[&Path]) -> Value {
    let python = kernel_tuner().expect("Kernel Tuner was found before");
    let script = workspace().join("tests/fixtures/kernel_tuner/round_trip.py");
    let mut command = Command::new(python);
    command.arg(script).args(words).args(files);
    let said = stdout(&expect_code(&mut command, 0));
    let line = said.lines().last().unwrap_or_default();
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// The configs of a definition, in Kernel Tuner's spelling.
fn configs(path: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(path).expect("the T1 file should be readable");
    let definition = Definition::read(&text).expect("our own T1 should be read");
    let set = definition.solve().expect("our own T1 should have a space");
    let spelled = |index: u128| {
        let places = set.places(index).into_iter();
        let values = places.zip(&definition.params).map(|(place, param)| {
            let value = param.values[place as usize].to_string();
            value.trim_matches('\'').to_owned()
        });
        values.collect::<Vec<_>>().join(",")
    };
    (0..set.len()).map(spelled).collect()
}

fn same_space(t1: &Path) -> usize {
    let theirs = kernel_tuner_says(&["space"], &[t1]);
    let listed = theirs["configs"].as_array().expect("a list of configs");
    let listed: BTreeSet<String> = listed
        .iter()
        .filter_map(|config| config.as_str().map(str::to_owned))
        .collect();
    let ours = configs(t1);
    assert_eq!(theirs["size"], json!(ours.len()), "{}", t1.display());
    assert!(listed == ours, "{}: other configs", t1.display());
    ours.len()
}

#[test]
fn spaces_written_as_t1_have_the_same_configs_in_kernel_tuner() {
    if !have(
        "spaces_written_as_t1_have_the_same_configs_in_kernel_tuner",
        &[Need::KernelTuner],
    ) {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary directory should be had");
    let kernels = kiln_kernels::catalogue().iter();
    for kernel in kernels.step_by(if in_full() { 1 } else { 6 }) {
        let file = folder.path().join(format!("{}.json", kernel.name()));
        let mut export = tune(&workspace(), folder.path());
        export.args([
            "export",
            "-p",
            "kiln-kernels",
            "--format",
            "t1",
            "--target",
            "sm_86",
        ]);
        expect_code(export.args(["-k", kernel.name(), "-o"]).arg(&file), 0);
        println!("{}: {} configs", kernel.name(), same_space(&file));
    }
}

/// A kernel that copies, whatever the values of its parameters are.
const SOURCE: &str = r#"extern "C" __global__ void odd(unsigned n, const T* x, T* y) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = SHIFT < STEP ? x[i] : x[i];
}
"#;

/// A declaration with quotients and remainders of negative numbers, divisors that may be zero, powers of two, and sizes
/// of types.
fn odd() -> Throwaway {
    Throwaway::new(
        "odd",
        &[
            (
                "src/lib.rs",
                r#"//! Constraints that mean something else in Python, taken word by word.
use kiln::tuned_kernel;

#[tuned_kernel(
    source = "odd.cu",
    types(T in [f32, f16]),
    params(
        THREADS in [32, 64, 96, 128],
        SHIFT in [-7, -1, 0, 2, 5],
        STEP in [-3, 0, 1, 4],
    ),
    where(
        SHIFT / 2 >= -3 && SHIFT % 3 != -2,
        STEP == 0 || SHIFT / STEP <= 2,
        next_power_of_two(THREADS) <= 128 && THREADS * size_of(T) >= 128,
        !(SHIFT == 5 && STEP < 0),
        n % STEP >= 0 || THREADS == 32,
    ),
    baseline(THREADS = 32, SHIFT = 0, STEP = 1),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((T = f32, n = 1000)),
    tolerance(relative = 1e-6),
)]
unsafe extern "C" {
    /// `y = x`.
    pub fn odd(n: u32, #[len(n)] x: &[T], #[len(n)] y: &mut [T]);
}
"#,
            ),
            ("src/odd.cu", SOURCE),
            ("tuned/index.toml", "format = 1\n\n[kernels]\n"),
        ],
    )
}

#[test]
fn constraints_keep_their_integer_meaning_in_python() {
    let crate_ = odd();
    let file = crate_.path().join("t1.json");
    let mut export = crate_.tune("export -k odd --format t1 --target sm_86");
    expect_code(export.arg("-o").arg(&file), 0);
    let listed = expect_code(&mut crate_.tune("space --device cpu --json"), 0);
    let listed: Value = serde_json::from_str(&stdout(&listed)).expect("the space should be JSON");
    assert!(
        listed
            .to_string()
            .contains(&configs(&file).len().to_string()),
        "{listed}"
    );
    if have(
        "constraints_keep_their_integer_meaning_in_python",
        &[Need::KernelTuner],
    ) {
        println!("odd: {} configs", same_space(&file));
    }
}

/// Searches all configs of `tensor_add` on a fake device, on which some configs fail in each possible way. Writes the
/// exports to the folder.
fn exported(folder: &Path) {
    let script = json!({
        "seed": 1,
        "time": {"base_ns": 100_000.0, "rugged": 3.0},
        "noise": {"sigma": 0.005},
        "rules": [
            {"when": {"config": {"THREADS": "64", "VECTOR_WIDTH": "1"}}, "compile": {"fails": "error: no"}},
            {"when": {"config": {"THREADS": "128", "VECTOR_WIDTH": "2"}}, "launch": "refused"},
            {"when": {"config": {"THREADS": "512", "VECTOR_WIDTH": "2"}}, "output": "nan"},
        ],
    });
    let path = folder.join("script.json");
    std::fs::write(&path, script.to_string()).expect("the script should be written");
    let device = format!("fake:{}", path.display());
    let kernel = [
        "-p",
        "kiln-kernels",
        "-k",
        "tensor_add",
        "--problem",
        "T=f32,n=1000003",
    ];
    let mut run = tune(&workspace(), folder);
    run.arg("run").args(kernel).args(["--device", &device]);
    run.args([
        "--strategy",
        "exhaustive",
        "--budget",
        "full",
        "--trials",
        "1000",
    ]);
    expect_code(&mut run, 0);
    for format in ["t1", "t4", "kernel-tuner"] {
        let mut export = tune(&workspace(), folder);
        export
            .arg("export")
            .args(kernel)
            .args(["--format", format, "-o"]);
        export.arg(folder.join(format!("{format}.json")));
        if format == "t1" {
            export.args(["--device", &device]);
        }
        expect_code(&mut export, 0);
    }
}

/// The result of each config. The key is the spelling of the config's values.
fn entries(path: &Path) -> BTreeMap<BTreeMap<String, String>, RecordedTrial> {
    let recording: Recording = read(path).unwrap_or_else(|error| panic!("{error}"));
    let params = recording.space.params();
    let config = |index: usize| {
        let positions = recording.space.positions(index).into_iter().zip(params);
        positions
            .map(|(at, param)| (param.name.clone(), param.texts[at as usize].clone()))
            .collect()
    };
    let all = recording.entries.iter().enumerate();
    all.map(|(index, entry)| (config(index), *entry)).collect()
}

#[test]
fn results_go_to_kernel_tuner_and_come_back_with_the_same_times_and_failures() {
    let test = "results_go_to_kernel_tuner_and_come_back_with_the_same_times_and_failures";
    if !have(test, &[Need::KernelTuner]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary directory should be had");
    exported(folder.path());
    let file = |name: &str| -> PathBuf { folder.path().join(name) };
    let ours = entries(&file("t4.json"));
    assert_eq!(ours.len(), 90, "every config of the space has a result");
    let count = |invalidity| {
        ours.values()
            .filter(|entry| entry.invalidity == invalidity)
            .count()
    };
    assert_eq!(
        [
            Invalidity::Compile,
            Invalidity::Runtime,
            Invalidity::Correctness
        ]
        .map(count),
        [6, 6, 6]
    );
    assert_eq!(
        kernel_tuner_says(&["validate"], &[&file("t4.json")]),
        json!({"results": 90})
    );
    assert_eq!(same_space(&file("t1.json")), 90);

    let (t1, cache, back) = (
        file("t1.json"),
        file("kernel-tuner.json"),
        file("back.json"),
    );
    let simulated = kernel_tuner_says(&["simulate"], &[&t1, &cache, &back]);
    assert_eq!(simulated["results"], 90);
    let best = ours.iter().filter(|entry| entry.1.time_ms.is_some());
    let (config, best) = best
        .min_by(|a, b| {
            a.1.time_ms
                .unwrap_or_default()
                .total_cmp(&b.1.time_ms.unwrap_or_default())
        })
        .expect("some config is valid");
    assert_eq!(simulated["best_ms"].as_f64(), best.time_ms);
    // A launch takes about 100 us on this fake device.
    let best_ms = best.time_ms.unwrap_or_default();
    assert!((0.01..1.0).contains(&best_ms), "{best_ms} ms");
    assert_eq!(simulated["env_best_ms"].as_f64(), best.time_ms);
    for (name, value) in config {
        let said = &simulated["best"][name];
        let said = said.as_str().map_or_else(|| said.to_string(), String::from);
        assert_eq!(said, *value);
    }

    let theirs = entries(&back);
    assert_eq!(theirs.len(), ours.len());
    for (config, entry) in &ours {
        let known = entry.invalidity.in_cache_files();
        let expected = known.map_or(Invalidity::Correct, Invalidity::of_cache_files);
        let came_back = &theirs[config];
        assert_eq!(
            (came_back.time_ms, came_back.invalidity),
            (entry.time_ms, expected),
            "{config:?}"
        );
    }
    let read = kernel_tuner_says(&["read"], &[&cache]);
    let mut converted = tune(&workspace(), folder.path());
    converted
        .args(["export", "--format", "kernel-tuner", "--space"])
        .arg(file("t4.json"));
    converted.arg("-o").arg(file("converted.json"));
    expect_code(&mut converted, 0);
    assert_eq!(
        read.as_object().map(serde_json::Map::len),
        Some(entries(&file("converted.json")).len())
    );
}
