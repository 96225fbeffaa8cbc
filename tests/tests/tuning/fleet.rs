//! A fleet on this machine: a plan, its elements on two devices of a kind, rows with their proof.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use kiln_tests::capability::{Need, have, in_full};
use kiln_tests::command::{expect_code, stderr, stdout, tune_program};
use kiln_tests::slurm::Cluster;
use serde_json::{Value, json};
use tempfile::TempDir;

const KERNEL: &str = "#[kiln::tuned_kernel(
    source = \"scale.cu\",
    params(THREADS in [64, 128, 256], ITEMS in [1, 2, 4]),
    baseline(THREADS = 64, ITEMS = 1),
    grid(n.div_ceil(THREADS * ITEMS)),
    block(THREADS),
    problems(PROBLEMS),
)]
unsafe extern \"C\" {
    pub fn scale(n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]);
}
";

const SOURCE: &str = "extern \"C\" __global__ void scale(unsigned n, const float* x, float* y) {
    for (int k = 0; k < ITEMS; k++) {
        unsigned i = (blockIdx.x * ITEMS + k) * THREADS + threadIdx.x;
        if (i < n) y[i] = 2 * x[i];
    }
}
";

/// A package, a store, and the keys of whoever plans.
struct Fleet {
    folder: TempDir,
}

impl Fleet {
    /// A package of one kernel with these problems, which anybody with the key `planner` may plan.
    fn new(problems: &[u32]) -> Fleet {
        let folder = tempfile::tempdir().expect("a temporary directory should be had");
        let fleet = Fleet { folder };
        let problems: Vec<String> = problems.iter().map(|n| format!("(n = {n})")).collect();
        let kernel = KERNEL.replace("PROBLEMS", &problems.join(", "));
        fleet.write(
            "mine/Cargo.toml",
            "[package]\nname = \"mine\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
        );
        fleet.write("mine/src/lib.rs", &kernel);
        fleet.write("mine/src/scale.cu", SOURCE);
        fleet.write("mine/tuned/index.toml", "format = 1\n\n[kernels]\n");
        fleet.key("planner");
        let public = fleet.read("planner.pub");
        fleet.write(
            "mine/tuned/allowed_signers",
            &format!("planner@lab namespaces=\"kiln-fleet\" {public}"),
        );
        for device in ["a", "b"] {
            fleet.device(device, &json!({}));
        }
        fleet
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        let folder = path.parent().expect("a file has a folder");
        fs::create_dir_all(folder).expect("a folder should be made");
        fs::write(path, text).expect("a file should be written");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Makes an SSH key.
    fn key(&self, name: &str) {
        let mut keygen = Command::new("ssh-keygen");
        keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]);
        expect_code(keygen.arg(self.path(name)), 0);
    }

    /// A fake device of its own uuid, on which 256 threads and 4 items are fast, with other fields of its script.
    fn device(&self, name: &str, fields: &Value) {
        let mut script = json!({
            "instance": {"uuid": format!("GPU-{name}")},
            "seed": 1,
            "time": {"base_ns": 100_000.0, "factors": {"THREADS": {"256": 0.5}, "ITEMS": {"4": 0.6}}},
            "noise": {"sigma": 0.005, "placement_sigma": 0.005},
        });
        let fields = fields.as_object().expect("fields are an object").clone();
        script
            .as_object_mut()
            .expect("a script is an object")
            .extend(fields);
        self.write(&format!("{name}.json"), &script.to_string());
    }

    /// A shell script with this body, in which `TUNE` and `ROOT` are paths.
    fn program(&self, name: &str, body: &str) {
        let root = self.folder.path().to_string_lossy().into_owned();
        let body = body
            .replace("TUNE", &tune_program().to_string_lossy())
            .replace("ROOT", &root);
        self.write(name, &format!("#!/bin/sh\n{body}\n"));
        let permissions = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.path(name), permissions).expect("it should be made executable");
    }

    /// `tune` with words in which `STORE` is the store.
    fn tune(&self, words: &str) -> Command {
        let mut tune = Command::new(tune_program());
        tune.current_dir(self.path("mine"));
        tune.env("KILN_CACHE", self.path("cache"))
            .env("TMPDIR", self.path(""));
        for name in [
            "KILN_TUNED",
            "KILN_STRICT",
            "SLURM_TMPDIR",
            "CARGO_TARGET_DIR",
        ] {
            tune.env_remove(name);
        }
        let store = self.path("store").to_string_lossy().into_owned();
        let root = self
            .path("")
            .to_string_lossy()
            .trim_end_matches('/')
            .to_owned();
        tune.args(words.split_whitespace().map(|word| match word {
            "STORE" => store.clone(),
            word => word.replace("ROOT", &root),
        }));
        tune
    }

    /// Runs `tune`, which must succeed; returns what it prints.
    fn run(&self, words: &str) -> String {
        stdout(&expect_code(&mut self.tune(words), 0))
    }

    /// Writes a plan.
    fn plan(&self, more: &str) -> String {
        let words = "fleet plan --kind fake --store STORE --trials 20 --budget full --sign ROOT/planner -o ROOT/fleet.plan";
        self.run(&format!("{words} {more}"))
    }

    /// Runs an element of a plan on a device.
    fn work(&self, plan: &str, element: usize, device: &str) -> Command {
        self.tune(&format!(
            "fleet work ROOT/{plan} --element {element} --store STORE --device fake:ROOT/{device}.json"
        ))
    }

    /// What a merge decides, as JSON; its exit code must be this.
    fn merge(&self, plan: &str, more: &str, code: i32) -> Value {
        let mut merge = self.tune(&format!(
            "fleet merge ROOT/{plan} --store STORE --json{more}"
        ));
        let said = stdout(&expect_code(&mut merge, code));
        serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
    }
}

/// The states of a merge's tasks.
fn states(merged: &Value) -> Vec<&str> {
    let tasks = merged["tasks"].as_array().expect("there should be tasks");
    tasks
        .iter()
        .map(|task| task["state"].as_str().expect("a state is text"))
        .collect()
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
    // As if the attempt had ended before it stated what it proved.
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
        stderr(&same).contains("element 0 confirms what another device has proven"),
        "{}",
        stderr(&same)
    );
    for element in [0, 1] {
        expect_code(&mut fleet.work("next.plan", element, "b"), 0);
    }
    let merged = fleet.merge("next.plan", "", 0);
    assert_eq!(states(&merged), ["proven"; 2], "{merged}");
    assert_eq!(merged["tasks"][0]["config"], "THREADS=256,ITEMS=4");
    let table = fleet.read("mine/tuned/scale.toml");
    assert_eq!(table.matches("evidence = \"proven\"").count(), 2, "{table}");
    // In CI, without the store.
    fs::remove_dir_all(fleet.path("store")).expect("the store should be there");
    fleet.run("bake --check --proofs");
    let three = expect_code(&mut fleet.tune("bake --check --proofs 3"), 1);
    assert!(
        stdout(&three).contains("2 distinct observers have proven THREADS=256,ITEMS=4, not 3"),
        "{}",
        stdout(&three)
    );
    let forged = fleet
        .read("mine/tuned/scale.proof")
        .replace("GPU-b", "GPU-c");
    fleet.write("mine/tuned/scale.proof", &forged);
    let refused = expect_code(&mut fleet.tune("bake --check --proofs"), 1);
    assert!(
        stdout(&refused).contains("statement of scale on n="),
        "{}",
        stdout(&refused)
    );
}

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
        "element 0 needs fake, and `cpu` is cpu/",
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
        "`scale` is not what the plan says: its source is ",
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
    // A store that was set back.
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
fn a_job_array_of_slurm_ends_with_every_row_although_an_element_was_killed() {
    let name = "a_job_array_of_slurm_ends_with_every_row_although_an_element_was_killed";
    if !have(name, &[Need::HostCompiler, Need::SshKeygen, Need::Slurm]) {
        return;
    }
    let fleet = Fleet::new(&[1_000, 2_000, 3_000, 4_000]);
    fleet.plan("--replicas 1");
    // The first attempt at element 2 is killed: Slurm runs no killed process again.
    fleet.program(
        "tune.sh",
        "case \"$*\" in\n\
         *'--element 2 '*) [ -e ROOT/killed ] || { touch ROOT/killed; kill -KILL $$; } ;;\n\
         esac\n\
         exec TUNE \"$@\" --device fake:ROOT/a.json",
    );
    let cluster = Cluster::start(8);
    let run = |more: &str| {
        let script = fleet.run(&format!(
            "fleet job ROOT/fleet.plan --store STORE --engine slurm --tune ROOT/tune.sh{more}"
        ));
        fleet.write("job.sh", &script);
        let folder = format!("--chdir={}", fleet.path("mine").display());
        cluster.submit(&fleet.path("job.sh"), &[&folder]);
        cluster.wait();
        script
    };
    let script = run("");
    assert!(script.contains("#SBATCH --array=0-3\n"), "{script}");
    let mut found = states(&fleet.merge("fleet.plan", " --dry-run", 0))
        .into_iter()
        .map(str::to_owned)
        .collect::<Vec<_>>();
    found.sort_unstable();
    assert_eq!(found, ["missing", "proven", "proven", "proven"]);
    let script = run(" --missing");
    assert!(script.contains("#SBATCH --array=2\n"), "{script}");
    assert_eq!(states(&fleet.merge("fleet.plan", "", 0)), ["proven"; 4]);
}

#[test]
fn an_element_that_is_killed_loses_no_acknowledged_trial_and_goes_on_from_there() {
    let name = "an_element_that_is_killed_loses_no_acknowledged_trial_and_goes_on_from_there";
    if !have(name, &[Need::HostCompiler, Need::SshKeygen]) {
        return;
    }
    let kills = if in_full() { 50 } else { 3 };
    let fleet = Fleet::new(&[10_000]);
    fleet.plan("--replicas 1");
    expect_code(&mut fleet.work("fleet.plan", 0, "a"), 0);
    let undisturbed = fleet.merge("fleet.plan", " --dry-run", 0)["tasks"][0]["config"].clone();
    for kill in 0..kills {
        let fleet = Fleet::new(&[10_000]);
        fleet.plan("--replicas 1");
        let mut work = fleet.work("fleet.plan", 0, "a");
        work.args(["--publish-every", "1s"]);
        let mut child = work
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("tune should start");
        // Moments from before the first launch to after the last one.
        std::thread::sleep(Duration::from_millis(100 + kill * 2_900 / kills));
        child.kill().expect("it should be killed");
        let said = stdout(&child.wait_with_output().expect("it should end"));
        let acknowledged: u64 = said
            .lines()
            .filter_map(|line| {
                line.strip_prefix("acknowledged ")?
                    .split(' ')
                    .nth(1)?
                    .parse()
                    .ok()
            })
            .max()
            .unwrap_or(0);
        let status = fleet.run("fleet status ROOT/fleet.plan --store STORE --json");
        let status: Value = serde_json::from_str(&status).expect("the status should be JSON");
        assert!(
            status["records"].as_u64() >= Some(acknowledged),
            "{acknowledged}: {status}"
        );
        expect_code(&mut fleet.work("fleet.plan", 0, "a"), 0);
        let merged = fleet.merge("fleet.plan", "", 0);
        assert_eq!(merged["tasks"][0]["config"], undisturbed, "{merged}");
    }
}

/// The files with this ending below a folder, sorted.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => found.extend(files(&path, ending)),
            false if path.to_string_lossy().ends_with(ending) => found.push(path),
            false => {}
        }
    }
    found.sort();
    found
}
