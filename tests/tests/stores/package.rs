//! A package of one kernel, fake devices of one kind, and machines that tune it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use kiln_tests::command::{expect_code, stderr, stdout, tune_program};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::places::Place;

const KERNEL: &str = "#[kiln::tuned_kernel(
    source = \"scale.cu\",
    params(THREADS in [64, 128, 256], ITEMS in [1, 2, 4]),
    baseline(THREADS = 64, ITEMS = 1),
    grid(n.div_ceil(THREADS * ITEMS)),
    block(THREADS),
    problems((n = 10000), (n = 20000)),
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

/// A package in a folder with keys and devices `a` and `b`, and a store somewhere.
pub struct Package<'p> {
    folder: TempDir,
    place: &'p Place,
}

impl<'p> Package<'p> {
    pub fn new(place: &'p Place) -> Package<'p> {
        let folder = tempfile::tempdir().expect("a temporary directory should be had");
        let package = Package { folder, place };
        package.write(
            "mine/Cargo.toml",
            "[package]\nname = \"mine\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
        );
        package.write("mine/src/lib.rs", KERNEL);
        package.write("mine/src/scale.cu", SOURCE);
        package.write("mine/tuned/index.toml", "format = 1\n\n[kernels]\n");
        let mut signers = String::new();
        for name in ["a", "b"] {
            let mut keygen = Command::new("ssh-keygen");
            keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]);
            expect_code(keygen.arg(package.path(&format!("key-{name}"))), 0);
            let public = fs::read_to_string(package.path(&format!("key-{name}.pub")));
            signers += &format!("{name}@lab namespaces=\"kiln-fleet\" {}", public.unwrap());
            package.device(name);
        }
        package.write("mine/tuned/allowed_signers", &signers);
        package
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        let folder = path.parent().expect("a file has a folder");
        fs::create_dir_all(folder).expect("a folder should be made");
        fs::write(path, text).expect("a file should be written");
    }

    /// A device of its own uuid, on which 256 threads and 4 items are fast.
    fn device(&self, name: &str) {
        let script = json!({
            "instance": {"uuid": format!("GPU-{name}")},
            "seed": 1,
            "time": {"base_ns": 100_000.0, "factors": {"THREADS": {"256": 0.5}, "ITEMS": {"4": 0.6}}},
            "noise": {"sigma": 0.005, "placement_sigma": 0.005},
        });
        self.write(&format!("{name}.json"), &script.to_string());
    }

    /// `tune` on a machine with a cache of its own; `STORE` and `ROOT` in the words are the store and the folder.
    pub fn tune(&self, machine: &str, words: &str) -> Command {
        let mut tune = Command::new(tune_program());
        tune.current_dir(self.path("mine"));
        tune.env("KILN_CACHE", self.path(&format!("cache-{machine}")))
            .env("TMPDIR", self.path(""));
        for name in [
            "KILN_TUNED",
            "KILN_STRICT",
            "SLURM_TMPDIR",
            "CARGO_TARGET_DIR",
        ] {
            tune.env_remove(name);
        }
        tune.envs(self.place.variables());
        let root = self.folder.path().to_string_lossy().into_owned();
        let store = self.place.location("fleet");
        tune.args(words.split_whitespace().map(|word| match word {
            "STORE" => store.clone(),
            word => word.replace("ROOT", &root),
        }));
        tune
    }

    /// Runs `tune`, which must succeed; returns what it prints.
    pub fn run(&self, machine: &str, words: &str) -> String {
        stdout(&expect_code(&mut self.tune(machine, words), 0))
    }

    /// Runs `tune`, which must end with a code; returns the JSON that it prints.
    pub fn json(&self, machine: &str, words: &str, code: i32) -> Value {
        let said = stdout(&expect_code(
            &mut self.tune(machine, &format!("{words} --json")),
            code,
        ));
        serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
    }

    /// Runs `tune`, which must fail; returns what it says.
    pub fn fails(&self, machine: &str, words: &str, code: i32) -> String {
        let said = stderr(&expect_code(&mut self.tune(machine, words), code));
        assert!(said.contains("help: "), "{said}");
        said
    }
}
