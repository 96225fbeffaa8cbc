//! `tune cache push` and `tune cache pull`: trials that one machine measured help the search of another machine.

use std::process::Stdio;
use std::time::Duration;

use kiln_tests::capability::{Need, have};
use serde_json::{Value, json};

use crate::package::Package;
use crate::places;
use crate::samples::cases;

const RUN: &str = "run --budget full --problem n=10000 --device";

/// The trials in a machine's cache: for each, the config and the time.
fn trials(package: &Package<'_>, machine: &str) -> Vec<(String, u64)> {
    let export: Value = serde_json::from_str(&package.run(machine, "cache export")).unwrap();
    let entries = export["entries"]
        .as_array()
        .expect("there should be entries");
    let measured = entries.iter().filter_map(|entry| {
        let trial = &entry["trial"];
        let median = trial["outcome"]["measured"]["median_ns"].as_u64()?;
        Some((trial["config"].as_str()?.to_owned(), median))
    });
    measured.collect()
}

#[test]
fn a_search_starts_from_what_another_machine_pushed_and_measures_everything_itself() {
    let test = "a_search_starts_from_what_another_machine_pushed_and_measures_everything_itself";
    if !have(test, &[Need::HostCompiler, Need::SshKeygen]) {
        return;
    }
    for place in places::all(test) {
        let package = Package::new(&place);
        package.json("a", &format!("{RUN} fake:ROOT/a.json --trials 9"), 0);
        let pushed = package.json("a", "cache push STORE --sign ROOT/key-a", 0);
        assert_eq!(
            (&pushed["known"], &pushed["segments"]),
            (&json!(0), &json!(1)),
            "{pushed}"
        );
        let pulled = package.json("b", "cache pull STORE", 0);
        assert_eq!(
            (&pulled["segments"], &pulled["complaints"]),
            (&json!(1), &json!([])),
            "{pulled}"
        );
        assert_eq!(
            pulled["results"][0]["observer"]["uuid"], "GPU-a",
            "{pulled}"
        );
        assert_eq!(
            trials(&package, "b"),
            [],
            "what is pulled is not this machine's"
        );
        let report = package.json("b", &format!("{RUN} fake:ROOT/b.json --trials 3"), 0);
        let start = report["tasks"][0]["starts_from"][0]
            .as_str()
            .unwrap_or_default();
        assert!(start.starts_with("pulled from "), "{report}");
        let (first, second) = (trials(&package, "a"), trials(&package, "b"));
        assert!(!second.is_empty() && second.len() < first.len());
        // With only three trials of its own, this search would not find the best of nine configs.
        assert!(
            second
                .iter()
                .any(|(config, _)| config == "THREADS=256,ITEMS=4"),
            "{second:?}"
        );
        // If they are repeated, both commands do nothing.
        assert_eq!(
            package.json("a", "cache push STORE --sign ROOT/key-a", 0)["segments"],
            0
        );
        let again = package.json("b", "cache pull STORE", 0);
        assert_eq!(
            (&again["segments"], &again["known"]),
            (&json!(0), &json!(1))
        );
    }
}

/// Starts `tune`, and kills it after a time that grows from case to case.
fn kill_after(package: &Package<'_>, machine: &str, words: &str, after: Duration) {
    let mut tune = package.tune(machine, words);
    tune.stdout(Stdio::null()).stderr(Stdio::null());
    let mut tune = tune.spawn().unwrap();
    std::thread::sleep(after);
    // It may have ended by itself.
    let _ = tune.kill();
    tune.wait().unwrap();
}

#[test]
fn pushes_and_pulls_that_are_killed_at_any_moment_are_completed_by_the_next() {
    let test = "pushes_and_pulls_that_are_killed_at_any_moment_are_completed_by_the_next";
    if !have(test, &[Need::HostCompiler, Need::SshKeygen]) {
        return;
    }
    let kills = cases(4, 50);
    for place in places::all(test) {
        let package = Package::new(&place);
        package.json("a", &format!("{RUN} fake:ROOT/a.json --trials 9"), 0);
        for case in 0..kills {
            // Either command takes less than 100 ms on most machines.
            let after = Duration::from_millis((100 * case / kills) as u64);
            kill_after(&package, "a", "cache push STORE --sign ROOT/key-a", after);
            kill_after(&package, "b", "cache pull STORE", after);
            // Nothing is wrong with either cache at any time.
            package.json("a", "cache verify", 0);
            package.json("b", "cache verify", 0);
        }
        let pushed = package.json("a", "cache push STORE --sign ROOT/key-a", 0);
        assert_eq!(pushed["replaced"], Value::Null, "{pushed}");
        let pulled = package.json("b", "cache pull STORE", 0);
        let found = (
            &pulled["complaints"],
            &pulled["unfinished"],
            &pulled["is_complete"],
        );
        assert_eq!(found, (&json!([]), &json!([]), &json!(true)), "{pulled}");
        let pulled = pulled["results"].as_array().unwrap().iter();
        let pulled: u64 = pulled.map(|one| one["trials"].as_u64().unwrap()).sum();
        assert_eq!(
            pulled,
            trials(&package, "a").len() as u64,
            "{}",
            place.name()
        );
    }
}

#[test]
fn the_same_device_goes_on_from_what_it_pushed_before_its_cache_was_lost() {
    let test = "the_same_device_goes_on_from_what_it_pushed_before_its_cache_was_lost";
    if !have(test, &[Need::HostCompiler, Need::SshKeygen]) {
        return;
    }
    let folder = places::Place::Folder(tempfile::tempdir().unwrap());
    let package = Package::new(&folder);
    package.json("a", &format!("{RUN} fake:ROOT/a.json --trials 9"), 0);
    package.json("a", "cache push STORE --key ROOT/key-a", 0);
    package.json("new", "cache pull STORE", 0);
    package.json("new", &format!("{RUN} fake:ROOT/a.json --trials 9"), 0);
    // No config was measured again.
    assert_eq!(trials(&package, "new"), trials(&package, "a"));
    let stats = package.json("new", "cache stats", 0);
    assert_ne!(stats["import_bytes"], 0, "{stats}");
    package.run("new", "cache clear --yes");
    assert_eq!(package.json("new", "cache stats", 0)["import_bytes"], 0);
}

#[test]
fn what_should_not_be_pulled_is_named_with_exit_code_1_and_the_rest_is_kept() {
    let test = "what_should_not_be_pulled_is_named_with_exit_code_1_and_the_rest_is_kept";
    if !have(test, &[Need::HostCompiler, Need::SshKeygen]) {
        return;
    }
    let folder = places::Place::Folder(tempfile::tempdir().unwrap());
    let package = Package::new(&folder);
    let nothing = package.fails("a", "cache push STORE --sign ROOT/key-a", 1);
    assert!(nothing.contains("nothing can be pushed"), "{nothing}");
    for machine in ["a", "b"] {
        package.json(
            machine,
            &format!("{RUN} fake:ROOT/{machine}.json --trials 5"),
            0,
        );
        package.run(
            machine,
            &format!("cache push STORE --sign ROOT/key-{machine}"),
        );
    }
    // Only one of the two keys is allowed to sign.
    let signers =
        std::fs::read_to_string(package.files.path("mine/tuned/allowed_signers")).unwrap();
    package.files.write("one", signers.lines().next().unwrap());
    let pulled = package.json("c", "cache pull STORE --allowed-signers ROOT/one", 1);
    assert_eq!(pulled["segments"], 1, "{pulled}");
    let complaints = pulled["complaints"].to_string();
    assert!(complaints.contains("not an allowed signer"), "{complaints}");
    let results = pulled["results"].as_array().unwrap();
    assert!(
        results.iter().all(|one| one["observer"]["uuid"] == "GPU-a"),
        "{pulled}"
    );
    let missing = package.fails("c", "cache pull STORE --allowed-signers ROOT/none", 1);
    assert!(missing.contains("none"), "{missing}");
    let key = package.fails("a", "cache push STORE --sign ROOT/none", 1);
    assert!(key.contains("cannot read the key"), "{key}");
}
