//! A fleet on this machine: a package, a plan, fake devices of one kind, and a store.

mod cluster;
mod engines;
mod interrupted;
mod refused;
mod rows;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use kiln_cache::Record;
use kiln_fleet::Segment;
use kiln_tests::command::{expect_code, stdout, tune_program};
use serde_json::{Value, json};
use tempfile::TempDir;

const KERNEL: &str = "#[kiln::tuned_kernel(
    source = \"scale.cu\",
    params(SPACE),
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

/// A space that a search knows in a moment.
const SMALL: &str = "THREADS in [64, 128, 256], ITEMS in [1, 2, 4]";
/// A space of 48 configs.
const LARGE: &str = "THREADS in [32, 64, 96, 128, 160, 192, 224, 256], ITEMS in [1, 2, 3, 4, 5, 6]";
/// The fastest config of both on [`Fleet::device`].
const FASTEST: &str = "THREADS=256,ITEMS=4";

/// A package, a store, and the keys of whoever plans.
struct Fleet {
    folder: TempDir,
}

impl Fleet {
    /// A package of one kernel with these problems, which anybody with the key `planner` may plan.
    fn new(problems: &[u32]) -> Fleet {
        Fleet::with_space(SMALL, problems)
    }

    /// The same with a kernel of another space.
    fn with_space(space: &str, problems: &[u32]) -> Fleet {
        let folder = tempfile::tempdir().expect("a temporary directory should be had");
        let fleet = Fleet { folder };
        let problems: Vec<String> = problems.iter().map(|n| format!("(n = {n})")).collect();
        let kernel = KERNEL
            .replace("SPACE", space)
            .replace("PROBLEMS", &problems.join(", "));
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
        let words = "fleet plan --kind fake --store STORE --budget full --sign ROOT/planner -o ROOT/fleet.plan";
        let trials = if more.contains("--trials") {
            ""
        } else {
            "--trials 20"
        };
        self.run(&format!("{words} {trials} {more}"))
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

    /// The published records of each journal, in order.
    fn records(&self) -> BTreeMap<u64, Vec<Record>> {
        let mut all: BTreeMap<u64, Vec<Record>> = BTreeMap::new();
        for path in files(&self.path("store/kiln-fleet/1/seg"), ".seg") {
            let bytes = fs::read(&path).expect("a segment should be there");
            let name = kiln_fleet::object::name_of(&bytes);
            let segment = Segment::parse(&bytes, &name).expect("it should be a segment");
            let records = segment.records.iter();
            let records = records.map(|placed| Record::clone(&placed.record));
            all.entry(segment.journal).or_default().extend(records);
        }
        all
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
