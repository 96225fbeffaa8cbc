//! Plans, workers and results that are rejected.

use std::fs;
use std::process::Command;
use std::time::Duration;

use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stderr, stdout};

use super::{Fleet, files, states};

#[test]
fn an_element_that_cannot_run_says_why_and_its_exit_code_tells_the_scheduler() {
    let name = "an_element_that_cannot_run_says_why_and_its_exit_code_tells_the_scheduler";
    if !have(name, &[Need::SshKeygen]) {
        return;
    }
    let fleet = Fleet::new(&[10_000]);
    fleet.plan("");
    let fails = |command: &mut Command, code: i32, says: &str| {
        let said = stderr(&expect_code(command, code));
        assert!(said.contains(says) && said.contains("help: "), "{said}");
    };
    fails(
        &mut fleet.work("fleet.plan", 7, "a"),
        1,
        "there is no element 7: ",
    );
    fails(
        &mut fleet.tune("fleet work ROOT/fleet.plan --element 0 --store STORE --device cpu"),
        3,
        "element 0 needs fake, but `cpu` is cpu/",
    );
    fails(
        &mut fleet.tune("fleet work ROOT/fleet.plan --element 0 --store STORE --key ROOT/planner"),
        1,
        "is not a worker key of ",
    );
    let none = fleet.tune("fleet job ROOT/fleet.plan --store STORE --engine slurm --elements 1-9");
    fails(&mut { none }, 1, "no element is left to run");
    fails(
        &mut fleet.tune("fleet plan --kind gpu --store STORE --sign ROOT/planner -o ROOT/x.plan"),
        1,
        "`gpu` is not a kind of device",
    );
    fails(
        &mut fleet.tune("fleet plan --kind fake --store STORE --sign ROOT/none -o ROOT/x.plan"),
        1,
        "none",
    );
    fleet.key("stranger");
    let stranger = fleet.read("stranger.pub");
    fleet.write("signers", &format!("stranger@lab {stranger}"));
    fails(
        &mut fleet.tune("fleet merge ROOT/fleet.plan --store STORE --allowed-signers ROOT/signers"),
        1,
        "fleet.plan is not signed by anybody in ",
    );
    let source = fleet.read("mine/src/scale.cu");
    fleet.write("mine/src/scale.cu", &source.replace("2 *", "3 *"));
    fails(
        &mut fleet.work("fleet.plan", 0, "a"),
        6,
        "`scale` has changed since the plan was created: the hash of its source is ",
    );
    let plan = fleet.read("fleet.plan");
    fleet.write(
        "fleet.plan",
        &plan.replace("\"replicas\":2", "\"replicas\":1"),
    );
    fails(
        &mut fleet.tune("fleet merge ROOT/fleet.plan --store STORE"),
        1,
        "fleet.plan is not signed by anybody in ",
    );
}

#[test]
fn what_a_store_should_not_hold_is_named_and_the_rest_is_merged() {
    let name = "what_a_store_should_not_hold_is_named_and_the_rest_is_merged";
    if !have(name, &[Need::HostCompiler, Need::SshKeygen]) {
        return;
    }
    let fleet = Fleet::new(&[10_000, 200_000]);
    fleet.plan("--replicas 1");
    for element in [0, 1] {
        expect_code(&mut fleet.work("fleet.plan", element, "a"), 0);
    }
    let segments = files(&fleet.path("store/kiln-fleet/1/seg"), ".seg");
    assert_eq!(segments.len(), 2, "{segments:?}");
    let mut bytes = fs::read(&segments[0]).expect("a segment should be there");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&segments[0], bytes).expect("it should be written");
    let merged = fleet.merge("fleet.plan", "", 1);
    let mut found = states(&merged);
    found.sort_unstable();
    assert_eq!(found, ["missing", "proven"], "{merged}");
    let complaints = merged["complaints"].to_string();
    let segment = segments[0]
        .file_name()
        .expect("it has a name")
        .to_string_lossy();
    assert!(complaints.contains(&*segment), "{complaints}");
    // Simulates a store that was reset to an earlier state.
    fs::remove_file(&segments[1]).expect("it should be removed");
    let merged = fleet.merge("fleet.plan", "", 1);
    assert!(
        merged["complaints"]
            .to_string()
            .contains("it was set back, or objects were deleted"),
        "{merged}"
    );
}

#[test]
fn the_clock_of_a_worker_does_not_matter_and_that_of_a_merge_ends_a_plan() {
    let name = "the_clock_of_a_worker_does_not_matter_and_that_of_a_merge_ends_a_plan";
    if !have(name, &[Need::HostCompiler, Need::SshKeygen]) {
        return;
    }
    let fleet = Fleet::new(&[10_000]);
    fleet.plan("--replicas 1");
    let plan: serde_json::Value =
        serde_json::from_str(&fleet.read("fleet.plan")).expect("a plan should be JSON");
    let expiry = format!("\"expires_unix_s\":{}", plan["expires_unix_s"]);
    let created = plan["created_unix_s"].as_u64().expect("it has a time");
    let past = format!("\"expires_unix_s\":{}", created + 1);
    fleet.write(
        "fleet.plan",
        &fleet.read("fleet.plan").replace(&expiry, &past),
    );
    fs::remove_file(fleet.path("fleet.plan.sig")).expect("a plan should have a signature");
    let mut sign = Command::new("ssh-keygen");
    sign.args(["-q", "-Y", "sign", "-n", "kiln-fleet", "-f"]);
    sign.arg(fleet.path("planner"))
        .arg(fleet.path("fleet.plan"));
    expect_code(&mut sign, 0);
    std::thread::sleep(Duration::from_millis(2_100));
    // This machine regards the plan as expired, like a worker whose clock is years ahead.
    expect_code(&mut fleet.work("fleet.plan", 0, "a"), 0);
    let mut merge = fleet.tune("fleet merge ROOT/fleet.plan --store STORE");
    let said = stderr(&expect_code(&mut merge, 1));
    assert!(
        said.contains("fleet.plan expired ") && said.contains("help: "),
        "{said}"
    );
}

#[test]
fn a_store_that_is_not_there_is_not_created_and_a_plan_is_not_replaced() {
    let name = "a_store_that_is_not_there_is_not_created_and_a_plan_is_not_replaced";
    if !have(name, &[Need::SshKeygen]) {
        return;
    }
    let fleet = Fleet::new(&[10_000]);
    fleet.plan("--replicas 1");
    for words in [
        "fleet work ROOT/fleet.plan --element 0 --device fake:ROOT/a.json --store",
        "fleet status ROOT/fleet.plan --store",
        "fleet merge ROOT/fleet.plan --store",
        "fleet job ROOT/fleet.plan --missing --engine slurm --store",
        "cache pull",
    ] {
        let said = stderr(&expect_code(
            &mut fleet.tune(&format!("{words} ROOT/typo")),
            75,
        ));
        assert!(said.contains("there is no store at "), "{words}: {said}");
        assert!(said.contains("help: check the path"), "{words}: {said}");
        assert!(!fleet.path("typo").exists(), "{words}");
    }
    let again = "fleet plan --kind fake --store STORE --sign ROOT/planner -o ROOT/fleet.plan";
    let key = fleet.read("fleet.plan.key");
    let said = stderr(&expect_code(&mut fleet.tune(again), 1));
    assert!(said.contains("fleet.plan is there already"), "{said}");
    assert_eq!(fleet.read("fleet.plan.key"), key);
}

#[test]
fn an_element_whose_time_ended_is_not_finished() {
    let name = "an_element_whose_time_ended_is_not_finished";
    if !have(name, &[Need::SshKeygen]) {
        return;
    }
    let fleet = Fleet::new(&[10_000]);
    // Compiling the baseline alone takes longer than the budget.
    let slow = serde_json::json!({"noise": {}, "rules": [{"compile": {"slow_ms": 1500}}]});
    fleet.device("a", &slow);
    fleet.run(
        "fleet plan --kind fake --store STORE --replicas 1 --trials 20 --budget 1s --sign ROOT/planner -o ROOT/fleet.plan",
    );
    for _ in 0..2 {
        let said = stdout(&expect_code(&mut fleet.work("fleet.plan", 0, "a"), 1));
        for part in [
            "element 0: not finished on ",
            "not decided: scale (n=10000)",
            "help: run the same command again",
        ] {
            assert!(said.contains(part), "{said}");
        }
    }
    let said = fleet.run("fleet status ROOT/fleet.plan --store STORE");
    assert!(said.contains("0 of 1 elements"), "{said}");
    let said = fleet.run("fleet job ROOT/fleet.plan --store STORE --missing --engine slurm");
    assert!(said.contains("--array=0"), "{said}");
}
