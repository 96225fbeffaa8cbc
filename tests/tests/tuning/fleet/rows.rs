//! From a plan to baked rows with their proofs.

use std::fs;
use std::process::Command;

use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stderr, stdout};
use serde_json::json;

use super::{Fleet, files, states};

/// Signs the first plan in the store with a key that is not allowed. `status` and `merge` of the second plan, which
/// continues the first, must then fail.
fn whoever_signed_the_earlier_plan_is_checked(fleet: &Fleet) {
    let plan: serde_json::Value =
        serde_json::from_str(&fleet.read("next.plan")).expect("it should be JSON");
    let earlier = plan["previous"]
        .as_str()
        .expect("it should continue another plan");
    let object = fleet.path(&format!("store/kiln-fleet/1/plans/{earlier}.plan"));
    let signature = object.with_extension("plan.sig");
    let right = fs::read(&signature).expect("the plan should have a signature");
    fs::remove_file(&signature).expect("it should be removed");
    fleet.key("stranger");
    let mut sign = Command::new("ssh-keygen");
    sign.args(["-q", "-Y", "sign", "-n", "kiln-fleet", "-f"])
        .arg(fleet.path("stranger"));
    expect_code(sign.arg(&object), 0);
    for command in ["status", "merge --dry-run"] {
        let words = format!("fleet {command} ROOT/next.plan --store STORE");
        let said = stderr(&expect_code(&mut fleet.tune(&words), 1));
        assert!(said.contains("is not signed by anybody in "), "{said}");
    }
    let words = "fleet status ROOT/next.plan --store STORE --manifest-path ROOT/none/Cargo.toml";
    let said = stderr(&expect_code(&mut fleet.tune(words), 1));
    assert!(said.contains("none/Cargo.toml"), "{said}");
    // Outside the package there is no file of allowed signers to check the signature with, and the output says so.
    let mut away = fleet.tune("fleet status ROOT/next.plan --store STORE");
    let said = stdout(&expect_code(away.current_dir(fleet.root()), 0));
    assert!(said.contains("its signer is not checked"), "{said}");
    fs::write(&signature, right).expect("it should be written");
}

#[test]
fn a_row_is_baked_when_two_devices_have_proven_it_and_its_proof_is_checked_offline() {
    let name = "a_row_is_baked_when_two_devices_have_proven_it_and_its_proof_is_checked_offline";
    if !have(name, &[Need::HostCompiler, Need::SshKeygen]) {
        return;
    }
    let fleet = Fleet::new(&[10_000, 200_000]);
    let said = fleet.plan("");
    assert!(said.contains("2 kernel problems in 2 elements"), "{said}");
    for element in [0, 1] {
        expect_code(&mut fleet.work("fleet.plan", element, "a"), 0);
    }
    // Removes the statements, as if the attempts had ended before they published what they proved.
    let stated = files(&fleet.path("store/kiln-fleet/1/proof"), "");
    fs::remove_dir_all(fleet.path("store/kiln-fleet/1/proof")).expect("it should be there");
    for element in [0, 1] {
        expect_code(&mut fleet.work("fleet.plan", element, "b"), 0);
    }
    assert_eq!(files(&fleet.path("store/kiln-fleet/1/proof"), ""), stated);
    let again = stdout(&expect_code(&mut fleet.work("fleet.plan", 0, "b"), 0));
    assert_eq!(again, "element 0: done before\n");
    let merged = fleet.merge(
        "fleet.plan",
        " --next ROOT/next.plan --sign ROOT/planner",
        0,
    );
    assert_eq!(states(&merged), ["needs_replica"; 2], "{merged}");
    assert!(
        !fleet.path("mine/tuned/scale.toml").exists(),
        "one device is not enough"
    );
    let same = expect_code(&mut fleet.work("next.plan", 0, "a"), 75);
    assert!(
        stderr(&same).contains("element 0 must confirm a config on a second device"),
        "{}",
        stderr(&same)
    );
    for element in [0, 1] {
        expect_code(&mut fleet.work("next.plan", element, "b"), 0);
    }
    let merged = fleet.merge(
        "next.plan",
        " --next ROOT/third.plan --sign ROOT/planner",
        0,
    );
    assert_eq!(states(&merged), ["proven"; 2], "{merged}");
    // Nothing is left to do, so there is no third plan.
    assert!(merged["next"].is_null(), "{merged}");
    assert!(!fleet.path("third.plan").exists());
    assert_eq!(merged["tasks"][0]["config"], "THREADS=256,ITEMS=4");
    let table = fleet.read("mine/tuned/scale.toml");
    assert_eq!(table.matches("evidence = \"proven\"").count(), 2, "{table}");
    let status = fleet.run("fleet status ROOT/next.plan --store STORE --json");
    assert!(
        status.contains("\"signed_by\": \"planner@lab\""),
        "{status}"
    );
    fleet.write("status.json", &status);
    fleet.run("report --fleet ROOT/status.json -o ROOT/plan.html");
    let page = fleet.read("plan.html");
    for said in ["GPU-a", "GPU-b", "THREADS=256,ITEMS=4", "2 proven"] {
        assert!(page.contains(said), "{said}: {page}");
    }
    whoever_signed_the_earlier_plan_is_checked(&fleet);
    // Repeats the check without the store, as in CI.
    fs::remove_dir_all(fleet.path("store")).expect("the store should be there");
    fleet.run("bake --check --proofs");
    let three = expect_code(&mut fleet.tune("bake --check --proofs 3"), 1);
    assert!(
        stdout(&three)
            .contains("2 distinct observers have proven THREADS=256,ITEMS=4, but 3 are required"),
        "{}",
        stdout(&three)
    );
    let forged = fleet
        .read("mine/tuned/scale.proof")
        .replace("GPU-b", "GPU-c");
    fleet.write("mine/tuned/scale.proof", &forged);
    let refused = expect_code(&mut fleet.tune("bake --check --proofs"), 1);
    assert!(
        stdout(&refused).contains("statement about scale on n="),
        "{}",
        stdout(&refused)
    );
}

#[test]
fn a_baseline_that_was_kept_is_a_row_and_does_not_replace_a_proven_one() {
    let name = "a_baseline_that_was_kept_is_a_row_and_does_not_replace_a_proven_one";
    if !have(name, &[Need::HostCompiler, Need::SshKeygen]) {
        return;
    }
    let fleet = Fleet::new(&[10_000]);
    // On this device, every config is as fast as the baseline.
    fleet.device("flat", &json!({"time": {"base_ns": 100_000.0}}));
    let tune = |device: &str| {
        fleet.plan("--replicas 1");
        expect_code(&mut fleet.work("fleet.plan", 0, device), 0);
        let merged = fleet.merge("fleet.plan", "", 0);
        let state = states(&merged)[0].to_owned();
        // A new plan does not replace an old one.
        for ending in ["", ".sig", ".key"] {
            let path = fleet.path(&format!("fleet.plan{ending}"));
            std::fs::remove_file(path).expect("a plan has these files");
        }
        (state, fleet.read("mine/tuned/scale.toml"))
    };
    let (state, table) = tune("flat");
    assert_eq!(state, "kept");
    assert!(
        table.contains("THREADS=64,ITEMS=1") && !table.contains("speedup"),
        "{table}"
    );
    fleet.run("bake --check --proofs 1");
    let (state, table) = tune("a");
    assert_eq!(state, "proven");
    assert!(table.contains("THREADS=256,ITEMS=4"), "{table}");
    let (state, again) = tune("flat");
    assert_eq!((state.as_str(), again), ("kept", table));
}
