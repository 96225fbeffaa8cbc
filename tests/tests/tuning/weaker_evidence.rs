//! A decision that was made without a reference, or with another one, does not count for a `tune` that has the reference.

use std::path::Path;

use kiln_cache::record::{ReferenceGrade, SearchDone};
use kiln_cache::{Cache, OpenOptions, Trial, Winner};
use kiln_spec::Hash;
use kiln_tests::command::{expect_code, stderr, stdout, tune_alone, workspace};
use serde_json::{Value, json};

#[test]
fn a_decision_that_was_made_without_the_reference_is_verified_again_before_it_counts() {
    let directory = tempfile::tempdir().expect("a temporary directory should be had");
    let folder = directory.path();
    let first = tuned(folder);
    assert_eq!(first["state"], "searched", "{first}");
    assert_eq!(first["winner"]["grade"], "reference", "{first}");
    assert_eq!(tuned(folder)["state"], "known");
    expect_code(&mut tune(folder, &["bake"]), 0);

    as_if_without_reference(folder);
    // A program that has the reference does not bake a config that was never compared with the reference.
    let bake = expect_code(&mut tune(folder, &["bake"]), 1);
    let said = stdout(&bake) + &stderr(&bake);
    assert!(said.contains("gemm: nothing is proven"), "{said}");
    let again = tuned(folder);
    assert_eq!(again["state"], "searched", "{again}");
    assert_eq!(again["winner"]["grade"], "reference", "{again}");
    let cache = open(folder);
    let winner = &cache.all_winners(None).expect("winners")[0];
    let trials = cache.trials(winner.key).expect("trials");
    let compared = |trial: &Trial| trial.grade == ReferenceGrade::Reference;
    assert!(trials.iter().all(compared), "{trials:#?}");
    cache.close().expect("the cache closes");
    assert_eq!(tuned(folder)["state"], "known");
}

#[test]
fn a_decision_that_was_compared_with_another_reference_is_made_again() {
    let directory = tempfile::tempdir().expect("a temporary directory should be had");
    let folder = directory.path();
    assert_eq!(tuned(folder)["state"], "searched");
    assert_eq!(tuned(folder)["state"], "known");
    let digest = references(folder)[0].expect("outputs were compared with a reference");

    let other = Some(Hash::of("kiln.reference", b"another"));
    let cache = open(folder);
    for trial in cache.all_trials(None).expect("trials") {
        let changed = Trial {
            reference: other,
            ..trial
        };
        cache.finish(changed).expect("a trial");
    }
    for winner in cache.all_winners(None).expect("winners") {
        let done = cache.search_done(winner.key).expect("the cache is read");
        let changed = SearchDone {
            reference: other,
            ..done.expect("the search is complete")
        };
        cache.mark_search_done(changed).expect("a record");
    }
    cache.close().expect("the cache closes");
    let again = tuned(folder);
    assert_eq!(again["state"], "searched", "{again}");
    assert!(references(folder).iter().all(|one| *one == Some(digest)));
    assert_eq!(tuned(folder)["state"], "known");
}

/// The digests of the references with which the outputs of all trials were compared.
fn references(folder: &Path) -> Vec<Option<Hash>> {
    let cache = open(folder);
    let trials = cache.all_trials(None).expect("trials");
    cache.close().expect("the cache closes");
    trials.iter().map(|trial| trial.reference).collect()
}

/// Changes the records of the cache to those of a `tune` without references.
fn as_if_without_reference(folder: &Path) {
    let grade = ReferenceGrade::BaselineOnly;
    let cache = open(folder);
    for trial in cache.all_trials(None).expect("trials") {
        cache.finish(Trial { grade, ..trial }).expect("a trial");
    }
    for winner in cache.all_winners(None).expect("winners") {
        let done = cache.search_done(winner.key).expect("the cache is read");
        let done = done.expect("the search is complete");
        cache
            .mark_search_done(SearchDone { grade, ..done })
            .expect("a record");
        cache.seal(Winner { grade, ..winner }).expect("a decision");
    }
    cache.close().expect("the cache closes");
}

fn open(folder: &Path) -> Cache {
    let opened = Cache::open(&folder.join("cache"), OpenOptions::new());
    opened.expect("the cache should open").0
}

/// The task of a short run on the fake device.
fn tuned(folder: &Path) -> Value {
    let words = ["run", "--trials", "3", "--budget", "full", "--json"];
    let said = stdout(&expect_code(&mut tune(folder, &words), 0));
    let report: Value = serde_json::from_str(&said).expect("the report should be JSON");
    report["tasks"][0].clone()
}

fn tune(folder: &Path, words: &[&str]) -> std::process::Command {
    let script = json!({
        "seed": 1,
        "time": {"base_ns": 100_000.0, "factors": {"VECTOR_WIDTH": {"4": 0.3, "2": 0.5}}},
        "noise": {"sigma": 0.005, "placement_sigma": 0.005},
    });
    let path = folder.join("script.json");
    std::fs::write(&path, script.to_string()).expect("the script should be written");
    let mut tune = tune_alone(&workspace(), &folder.join("cache"));
    tune.args(words).args(["-k", "gemm"]);
    if words[0] == "run" {
        tune.args(["--problem", "m=64,n=64,k=64"]);
    }
    tune.arg("--device").arg(format!("fake:{}", path.display()));
    tune
}
