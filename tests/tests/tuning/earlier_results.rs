//! A search starts from results for another problem of the same kernel, or from a recording made on another device.

use std::collections::BTreeSet;
use std::path::Path;

use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stderr, stdout, tune, workspace};
use serde_json::{Value, json};

/// A kernel with problems that are fast to verify.
const KERNEL: &str = "gemm";
const FIRST: &str = "m=64,n=64,k=64";
const SECOND: &str = "m=8,n=1024,k=1024";

#[test]
fn a_search_for_another_problem_begins_with_the_best_of_the_first() {
    if !have(
        "a_search_for_another_problem_begins_with_the_best_of_the_first",
        &[Need::HostCompiler],
    ) {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory should be had");
    let folder = directory.path();
    let first = run(folder, FIRST, &["--trials", "12"]);
    assert_eq!(first["starts_from"], json!([]), "nothing is known yet");
    let best = best_of(&trials(folder, FIRST), 6);
    let second = run(folder, SECOND, &["--trials", "6"]);
    assert_eq!(second["starts_from"], json!([FIRST]));
    let tried: BTreeSet<String> = trials(folder, SECOND)
        .into_iter()
        .map(|(config, _)| config)
        .collect();
    let recalled = tried.intersection(&best).count();
    // The baseline is one of the six configs that are tried, and the race may rank similar configs differently.
    assert!(recalled >= 4, "{recalled} of {best:#?} among {tried:#?}");
    let third = run(folder, SECOND, &["--trials", "7", "--no-transfer"]);
    assert_eq!(third["starts_from"], json!([]), "that was asked for");
}

#[test]
fn a_recording_of_another_tuner_is_a_start_and_one_of_another_kernel_is_refused() {
    if !have(
        "a_recording_of_another_tuner_is_a_start_and_one_of_another_kernel_is_refused",
        &[Need::HostCompiler],
    ) {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory should be had");
    let folder = directory.path();
    run(folder, FIRST, &["--trials", "6"]);
    let trials = trials(folder, FIRST);
    let file = folder.join("gemm@elsewhere.json");
    std::fs::write(&file, recording(&trials).to_string()).expect("a file should be written");
    let file = file.to_str().expect("a path should be text");
    let other = tempfile::tempdir().expect("a temporary directory should be had");
    let report = run(
        other.path(),
        SECOND,
        &["--trials", "4", "--transfer-from", file],
    );
    assert_eq!(report["starts_from"], json!(["gemm@elsewhere"]));

    let mut wrong = tune(&workspace(), &folder.join("cache"));
    wrong.args(["run", "-k", "gelu", "--budget", "5s", "--device", "cpu"]);
    let message = stderr(&expect_code(wrong.args(["--transfer-from", file]), 1));
    assert!(
        message.contains("no kernel of this run has these") && message.contains("help: "),
        "{message}"
    );
}

#[test]
fn configs_that_the_author_wants_first_are_tried_before_any_other() {
    let directory = tempfile::tempdir().expect("a temporary directory should be had");
    let folder = directory.path();
    // The baseline, and the configs that the author suggests. Every strategy tries them first.
    run(folder, FIRST, &["--trials", "3", "--strategy", "random"]);
    let tried: Vec<String> = trials(folder, FIRST)
        .into_iter()
        .map(|(config, _)| config)
        .collect();
    let wanted =
        "BLOCK_M=128,BLOCK_N=128,BLOCK_K=16,THREAD_M=8,THREAD_N=8,VECTOR_WIDTH=4,UNROLL=1,WALK=0";
    assert!(tried.iter().any(|config| config == wanted), "{tried:?}");
}

/// A cache file of Kernel Tuner that contains these trials.
fn recording(trials: &[(String, Option<u64>)]) -> Value {
    let names: Vec<&str> = trials[0]
        .0
        .split(',')
        .map(|one| name_value(one).0)
        .collect();
    let mut values: Vec<BTreeSet<&str>> = vec![BTreeSet::new(); names.len()];
    let mut cache = serde_json::Map::new();
    for (config, ratio) in trials {
        let texts: Vec<&str> = config.split(',').map(|one| name_value(one).1).collect();
        let mut entry = serde_json::Map::new();
        for (place, text) in texts.iter().enumerate() {
            values[place].insert(text);
            entry.insert(names[place].into(), value(text));
        }
        let time = ratio.map_or(json!("RuntimeFailedConfig"), |ratio| {
            json!(ratio as f64 / 1e6)
        });
        entry.insert("time".into(), time);
        cache.insert(texts.join(","), Value::Object(entry));
    }
    let tunables: serde_json::Map<String, Value> = names
        .iter()
        .zip(&values)
        .map(|(name, texts)| {
            let values = texts.iter().map(|text| value(text)).collect();
            ((*name).to_owned(), Value::Array(values))
        })
        .collect();
    json!({
        "device_name": "elsewhere", "kernel_name": KERNEL, "problem_size": [512, 512],
        "tune_params_keys": names, "tune_params": tunables, "objective": "time", "cache": cache,
    })
}

fn name_value(assignment: &str) -> (&str, &str) {
    assignment
        .split_once('=')
        .expect("a config is made of assignments")
}

fn value(text: &str) -> Value {
    text.parse::<i64>()
        .map_or(json!(text), |number| json!(number))
}

/// The `count` configs with the shortest times.
fn best_of(trials: &[(String, Option<u64>)], count: usize) -> BTreeSet<String> {
    let mut ranked: Vec<(u64, &String)> = trials
        .iter()
        .filter_map(|(config, ratio)| Some(((*ratio)?, config)))
        .collect();
    ranked.sort();
    let best = ranked.into_iter().take(count);
    best.map(|(_, config)| config.clone()).collect()
}

/// The stored trials of a problem: the config, and its time divided by the baseline's time, in millionths.
fn trials(folder: &Path, problem: &str) -> Vec<(String, Option<u64>)> {
    let export = expect_code(
        tune(&workspace(), &folder.join("cache")).args(["cache", "export"]),
        0,
    );
    let document: Value =
        serde_json::from_str(&stdout(&export)).expect("the export should be JSON");
    let mut found = Vec::new();
    collect(&document, problem, &mut found);
    found
}

fn collect(value: &Value, problem: &str, found: &mut Vec<(String, Option<u64>)>) {
    match value {
        Value::Object(object) if object.contains_key("outcome") => {
            let config = object["config"].as_str().expect("a config is text");
            let ratio = object["outcome"]["measured"]["ratio_ppm"].as_u64();
            found.extend((object["problem"] == problem).then(|| (config.to_owned(), ratio)));
        }
        Value::Object(object) => object
            .values()
            .for_each(|value| collect(value, problem, found)),
        Value::Array(values) => values
            .iter()
            .for_each(|value| collect(value, problem, found)),
        _ => {}
    }
}

/// Runs `tune` on the fake device, and returns the task from the report.
fn run(folder: &Path, problem: &str, args: &[&str]) -> Value {
    let script = json!({
        "seed": 1,
        "time": {"base_ns": 100_000.0, "rugged": 3.0, "factors": {"VECTOR_WIDTH": {"4": 0.3, "2": 0.5}}},
        "noise": {"sigma": 0.005, "placement_sigma": 0.005},
    });
    let path = folder.join("script.json");
    std::fs::write(&path, script.to_string()).expect("the script should be written");
    let mut run = tune(&workspace(), &folder.join("cache"));
    run.args(["run", "-k", KERNEL, "--problem", problem, "--json"]);
    run.args(["--budget", "full"]).args(args);
    run.arg("--device").arg(format!("fake:{}", path.display()));
    let report: Value = serde_json::from_str(&stdout(&expect_code(&mut run, 0)))
        .expect("the report should be JSON");
    report["tasks"][0].clone()
}
