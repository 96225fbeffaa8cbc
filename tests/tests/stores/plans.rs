//! Runs a whole plan on every store.

use std::process::Stdio;
use std::time::Duration;

use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stdout};
use kiln_tests::scale_package::FASTEST;
use serde_json::{Value, json};

use crate::package::Package;
use crate::places::{self, Place};
use crate::samples::cases;

#[test]
fn a_plan_is_worked_on_and_merged_through_every_store() {
    let test = "a_plan_is_worked_on_and_merged_through_every_store";
    if !have(test, &[Need::HostCompiler, Need::SshKeygen]) {
        return;
    }
    for place in places::all(test) {
        let package = Package::new(&place);
        let plan = "--store STORE --trials 9 --budget full --sign ROOT/key-a";
        package.run(
            "a",
            &format!("fleet plan --kind fake {plan} -o ROOT/fleet.plan"),
        );
        let work = |plan: &str, device: &str| {
            for element in 0..2 {
                package.run(
                    device,
                    &format!(
                        "fleet work ROOT/{plan} --element {element} --store STORE --device fake:ROOT/{device}.json"
                    ),
                );
            }
        };
        work("fleet.plan", "a");
        let again =
            "fleet work ROOT/fleet.plan --element 0 --store STORE --device fake:ROOT/b.json";
        assert_eq!(package.run("b", again), "element 0: done before\n");
        let next =
            "fleet merge ROOT/fleet.plan --store STORE --next ROOT/next.plan --sign ROOT/key-a";
        assert_eq!(
            states(&package.json("a", next, 0)),
            ["needs_replica"; 2],
            "{}",
            place.name()
        );
        work("next.plan", "b");
        let merged = package.json("a", "fleet merge ROOT/next.plan --store STORE", 0);
        assert_eq!(states(&merged), ["proven"; 2], "{}: {merged}", place.name());
        let table = std::fs::read_to_string(package.files.path("mine/tuned/scale.toml")).unwrap();
        assert_eq!(table.matches("evidence = \"proven\"").count(), 2, "{table}");
    }
}

#[test]
fn elements_that_are_killed_at_any_moment_lose_no_acknowledged_trial_in_any_store() {
    let test = "elements_that_are_killed_at_any_moment_lose_no_acknowledged_trial_in_any_store";
    if !have(test, &[Need::HostCompiler, Need::SshKeygen]) {
        return;
    }
    for place in places::all(test) {
        let package = Package::new(&place);
        let slow = json!({"noise": {}, "rules": [{"compile": {"slow_ms": 100}}]});
        package.files.device("a", &slow);
        let plan = "--store STORE --replicas 1 --trials 9 --budget full --sign ROOT/key-a";
        package.run(
            "a",
            &format!("fleet plan --kind fake {plan} -o ROOT/fleet.plan"),
        );
        let work = |element: usize| {
            let words = format!(
                "fleet work ROOT/fleet.plan --element {element} --store STORE --device fake:ROOT/a.json --publish-every 1s"
            );
            package.tune("a", &words)
        };
        let mut acknowledged = 0;
        let kills = cases(3, 20);
        for kill in 0..kills {
            let mut attempt = work(0)
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_millis((2000 * kill / kills) as u64));
            // It may have ended by itself.
            let _ = attempt.kill();
            let said = attempt.wait_with_output().unwrap().stdout;
            let said = String::from_utf8_lossy(&said).into_owned();
            let last = said.lines().filter_map(|line| {
                line.strip_prefix("acknowledged ")?
                    .split(' ')
                    .nth(1)?
                    .parse()
                    .ok()
            });
            acknowledged += last.max().unwrap_or(0_u64);
        }
        for element in 0..2 {
            expect_code(&mut work(element), 0);
        }
        let status = package.json("a", "fleet status ROOT/fleet.plan --store STORE", 0);
        let records = status["records"].as_u64().unwrap();
        assert!(
            records >= acknowledged,
            "{}: {records} of {acknowledged}",
            place.name()
        );
        // A server that writes in place may keep a part of an object. The merge names that object and merges the rest.
        let mut merge = package.tune("a", "fleet merge ROOT/fleet.plan --store STORE --json");
        let merged: Value = serde_json::from_str(&stdout(&merge.output().unwrap())).unwrap();
        assert_eq!(states(&merged), ["proven"; 2], "{}: {merged}", place.name());
        for task in merged["tasks"].as_array().unwrap() {
            assert_eq!(task["config"], FASTEST, "{}: {task}", place.name());
        }
    }
}

fn states(merged: &serde_json::Value) -> Vec<&str> {
    let tasks = merged["tasks"].as_array().expect("there should be tasks");
    tasks
        .iter()
        .map(|task| task["state"].as_str().unwrap())
        .collect()
}

#[test]
fn an_element_exits_with_75_if_its_bucket_does_not_answer() {
    let test = "an_element_exits_with_75_if_its_bucket_does_not_answer";
    if !have(test, &[Need::SshKeygen]) {
        return;
    }
    for server in places::servers(test) {
        let place = Place::Server(server);
        let package = Package::new(&place);
        let plan = "--kind fake --store STORE --trials 9 --budget full --sign ROOT/key-a";
        package.run("a", &format!("fleet plan {plan} -o ROOT/fleet.plan"));
        let words =
            "fleet work ROOT/fleet.plan --element 0 --store STORE --device fake:ROOT/a.json";
        let mut work = package.tune("a", words);
        let nobody = format!("http://127.0.0.1:{}", kiln_tests::s3::free_port());
        work.env("AWS_ENDPOINT_URL", nobody);
        let output = kiln_tests::command::expect_code(&mut work, 75);
        let said = kiln_tests::command::stderr(&output);
        assert!(
            said.contains("onnection refused") && said.contains("help: "),
            "{said}"
        );
        assert!(!said.contains("S3RVER"), "{said}");
    }
}

#[test]
fn a_bucket_is_refused_with_help_by_a_tune_that_was_built_without_them() {
    let test = "a_bucket_is_refused_with_help_by_a_tune_that_was_built_without_them";
    if cfg!(feature = "s3") || !have(test, &[Need::SshKeygen]) {
        return;
    }
    let folder = Place::Folder(tempfile::tempdir().unwrap());
    let package = Package::new(&folder);
    let said = package.fails(
        "a",
        "fleet plan --kind fake --store s3://bucket/x --sign ROOT/key-a -o ROOT/fleet.plan",
        1,
    );
    assert!(
        said.contains("--features s3") && said.contains("rclone mount"),
        "{said}"
    );
}
