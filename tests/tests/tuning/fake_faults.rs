//! On the fake device, a search in which a third of the candidates is faulty finds an equally fast winner.

use std::collections::BTreeMap;
use std::path::Path;

use kiln_kernels::gemm;
use kiln_tests::capability::in_full;
use kiln_tests::command::{expect_code, stdout, tune, workspace};
use serde_json::{Value, json};

/// Number of configs that each search tries.
const TRIALS: usize = 9;

/// Number of parallel searches. The fake device takes its times from a script, so the load of the machine is
/// irrelevant.
const AT_A_TIME: u64 = 4;

#[test]
fn a_search_with_thirty_percent_faulty_candidates_finds_as_fast_a_winner() {
    let searches: u64 = if in_full() { 50 } else { 2 };
    let worker = |first: u64| {
        let seeds = (first..=searches).step_by(AT_A_TIME as usize);
        seeds.filter(|&seed| finds_as_fast(seed)).count() as u64
    };
    let same: u64 = std::thread::scope(|scope| {
        let workers: Vec<_> = (1..=AT_A_TIME)
            .map(|first| scope.spawn(move || worker(first)))
            .collect();
        let counts = workers.into_iter().map(|worker| worker.join());
        counts
            .map(|count| count.expect("a search should not panic"))
            .sum()
    });
    println!(
        "30 % faulty candidates on the fake device: as fast a winner in {same} of {searches} searches"
    );
    assert_eq!(same, searches);
}

#[test]
fn a_device_that_becomes_faster_while_it_is_measured_fails_no_config() {
    let directory = tempfile::tempdir().expect("a temporary directory should be had");
    // Samples are planned to last 200 us. The launches of the race are five times as fast as those from which the
    // samples were planned.
    let script = json!({
        "timer_tick_ns": 1000,
        "time": {"base_ns": 100_000.0, "rugged": 3.0},
        "noise": {"throttle_after": 40, "throttle_factor": 0.2},
    });
    let (_, document) = run(directory.path(), 1, &script);
    let mut outcomes = Vec::new();
    collect(&document, "outcome", &mut outcomes);
    assert!(outcomes.len() + 1 >= TRIALS, "{outcomes:?}");
    for outcome in outcomes {
        assert!(outcome.contains("measured"), "{outcome}");
    }
}

/// Whether a search with faulty candidates finds the same winner as a search without, or another config that is as
/// fast.
fn finds_as_fast(seed: u64) -> bool {
    let directory = tempfile::tempdir().expect("a temporary directory should be had");
    let (winner, trials) = search(directory.path(), seed, &[]);
    let tried: Vec<String> = trials.keys().cloned().collect();
    let chosen = chosen(&tried, &winner, seed);
    let faulty = faults(&chosen, seed);
    assert!(
        faulty.len() * 10 >= tried.len() * 3,
        "{} of {} are faulty",
        faulty.len(),
        tried.len()
    );
    let (despite, others) = search(directory.path(), seed, &faulty);
    assert!(
        others.keys().eq(trials.keys()),
        "both searches try the same configs"
    );
    println!(
        "seed {seed}: `{winner}` without and `{despite}` with {} faulty",
        faulty.len()
    );
    assert!(!chosen.contains(&despite), "`{despite}` is faulty");
    // Two configs may be equally fast. Then noise decides which of them wins.
    let (time_of, noise) = (|config| trials[config], 1.02);
    time_of(&despite) <= time_of(&winner) * noise
}

/// Chooses a third of the configs, without the winner and without the config of the baseline, because a rule for that
/// config would make the baseline faulty too.
fn chosen(tried: &[String], winner: &str, seed: u64) -> Vec<String> {
    let baseline = gemm::KERNEL.spec().baseline.config.to_string();
    let is_other = |config: &&String| *config != winner && **config != baseline;
    let others: Vec<&String> = tried.iter().filter(is_other).collect();
    let every = |i: usize| others[(seed as usize + i * 3) % others.len()].clone();
    (0..TRIALS.div_ceil(3)).map(every).collect()
}

/// Rules that make each of these configs fail in a different way, and run ten times as fast as the correct configs.
fn faults(chosen: &[String], seed: u64) -> Vec<Value> {
    let ways = [
        json!({"output": "nan"}),
        json!({"output": {"partial": 0.5}}),
        json!({"output": "last_missing"}),
        json!({"output": "writes_behind"}),
        json!({"output": "changes_input"}),
        json!({"output": "first_answer"}),
        json!({"output": {"wrong_after": 4}}),
        json!({"output": {"scaled": 1.01}}),
        json!({"launch": "crash"}),
        json!({"launch": "abort"}),
        json!({"launch": {"exit": 0}}),
        json!({"launch": "refused"}),
        json!({"launch": {"crash_after": 4}}),
        json!({"compile": {"fails": "error: no"}}),
        // No config has a block of 96 threads, so this receipt is always wrong.
        json!({"receipt": {"block": [96, 1, 1]}}),
        json!({"receipt": "missing"}),
    ];
    let start = seed as usize;
    let rule = |(i, config): (usize, &String)| {
        let pairs = config.split(',').filter_map(|pair| pair.split_once('='));
        let config: serde_json::Map<_, _> = pairs
            .map(|(name, value)| (name.to_owned(), json!(value)))
            .collect();
        let mut rule = ways[(start * 5 + i) % ways.len()].clone();
        rule["when"] = json!({"config": config});
        rule["time"] = json!({"base_ns": 1000.0});
        rule
    };
    chosen.iter().enumerate().map(rule).collect()
}

/// Runs one search from scratch. Returns the winner, and the time of each tried config relative to the baseline.
fn search(folder: &Path, seed: u64, rules: &[Value]) -> (String, BTreeMap<String, f64>) {
    let script = json!({
        "seed": seed,
        "time": {"base_ns": 100_000.0, "rugged": 3.0, "factors": {"VECTOR_WIDTH": {"4": 0.5, "2": 0.7}}},
        "noise": {"sigma": 0.005, "placement_sigma": 0.005},
        "rules": rules,
    });
    let (report, document) = run(folder, seed, &script);
    let (mut tried, mut outcomes) = (Vec::new(), Vec::new());
    collect(&document, "config", &mut tried);
    collect(&document, "outcome", &mut outcomes);
    let ratio = |outcome: &String| {
        let outcome: Value = serde_json::from_str(outcome).unwrap_or_default();
        let ratio_ppm = &outcome["measured"]["ratio_ppm"];
        ratio_ppm.as_f64().map_or(f64::INFINITY, |ppm| ppm / 1e6)
    };
    let trials = tried.into_iter().zip(outcomes.iter().map(ratio)).collect();
    let winner = report["tasks"][0]["winner"]["config"]
        .as_str()
        .expect("a winner has a config");
    (winner.to_owned(), trials)
}

/// Runs one search from scratch on a scripted device. Returns its report, and the export of everything that it stored.
fn run(folder: &Path, seed: u64, script: &Value) -> (Value, Value) {
    let path = folder.join("script.json");
    std::fs::write(&path, script.to_string()).expect("the script should be written");
    let cache = tempfile::tempdir().expect("a temporary directory should be had");
    let mut run = tune(&workspace(), cache.path());
    run.args([
        "run",
        "-k",
        "gemm",
        "--problem",
        "m=64,n=64,k=64",
        "--strategy",
        "exhaustive",
        "--json",
    ]);
    run.args([
        "--budget",
        "full",
        "--trials",
        &TRIALS.to_string(),
        "--seed",
        &seed.to_string(),
    ]);
    run.arg("--device").arg(format!("fake:{}", path.display()));
    let report: Value = serde_json::from_str(&stdout(&expect_code(&mut run, 0)))
        .expect("the report should be JSON");
    let export = expect_code(
        tune(&workspace(), cache.path()).args(["cache", "export"]),
        0,
    );
    let document: Value =
        serde_json::from_str(&stdout(&export)).expect("the export should be JSON");
    (report, document)
}

/// Collects a field of every trial in an export, as text.
fn collect(value: &Value, field: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(object) if object.contains_key("outcome") => {
            let text = object[field].as_str().map(str::to_owned);
            found.push(text.unwrap_or_else(|| object[field].to_string()));
        }
        Value::Object(object) => object
            .values()
            .for_each(|value| collect(value, field, found)),
        Value::Array(values) => values.iter().for_each(|value| collect(value, field, found)),
        _ => {}
    }
}
