//! A package with one kernel in its own folder, with SSH keys and with fake devices of the same kind. The tests of
//! fleets tune this package.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command::{expect_code, tune_program};

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

/// A search space of 9 configs.
pub const SMALL: &str = "THREADS in [64, 128, 256], ITEMS in [1, 2, 4]";
/// A search space of 48 configs.
pub const LARGE: &str =
    "THREADS in [32, 64, 96, 128, 160, 192, 224, 256], ITEMS in [1, 2, 3, 4, 5, 6]";
/// The fastest config of both spaces on [`ScalePackage::device`].
pub const FASTEST: &str = "THREADS=256,ITEMS=4";

/// A package in the folder `mine/` of a temporary folder, with the devices `a` and `b`.
#[derive(Debug)]
pub struct ScalePackage {
    folder: TempDir,
}

impl ScalePackage {
    /// A package with one kernel, this search space and these problems. The keys of `signers` are allowed to sign
    /// plans.
    ///
    /// # Panics
    /// If files cannot be written, or `ssh-keygen` fails.
    pub fn new(space: &str, problems: &[u32], signers: &[&str]) -> ScalePackage {
        let folder = tempfile::tempdir().expect("a temporary directory should be had");
        let package = ScalePackage { folder };
        let problems: Vec<String> = problems.iter().map(|n| format!("(n = {n})")).collect();
        let kernel = KERNEL
            .replace("SPACE", space)
            .replace("PROBLEMS", &problems.join(", "));
        package.write(
            "mine/Cargo.toml",
            "[package]\nname = \"mine\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
        );
        package.write("mine/src/lib.rs", &kernel);
        package.write("mine/src/scale.cu", SOURCE);
        package.write("mine/tuned/index.toml", "format = 1\n\n[kernels]\n");
        let mut allowed = String::new();
        for name in signers {
            package.key(name);
            let public = package.read(&format!("{name}.pub"));
            allowed += &format!("{name}@lab namespaces=\"kiln-fleet\" {public}");
        }
        package.write("mine/tuned/allowed_signers", &allowed);
        for device in ["a", "b"] {
            package.device(device, &json!({}));
        }
        package
    }

    /// A path in the temporary folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The temporary folder.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file in the temporary folder.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        let folder = path.parent().expect("a file has a folder");
        fs::create_dir_all(folder).expect("a folder should be made");
        fs::write(path, text).expect("a file should be written");
    }

    /// Reads a file in the temporary folder.
    ///
    /// # Panics
    /// If the file cannot be read.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Creates an SSH key pair: `name` and `name.pub`.
    ///
    /// # Panics
    /// If `ssh-keygen` fails.
    pub fn key(&self, name: &str) {
        let mut keygen = Command::new("ssh-keygen");
        keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]);
        expect_code(keygen.arg(self.path(name)), 0);
    }

    /// Writes the script of a fake device with its own UUID, on which 256 threads and 4 items are fast. `fields` are
    /// added to the script.
    ///
    /// # Panics
    /// If `fields` is not a JSON object.
    pub fn device(&self, name: &str, fields: &Value) {
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

    /// A `tune` command that runs in the package, with the cache of this name. In `words`, `STORE` stands for the store
    /// and `ROOT` for the temporary folder.
    pub fn tune(&self, cache: &str, store: &str, words: &str) -> Command {
        let mut tune = Command::new(tune_program());
        tune.current_dir(self.path("mine"));
        tune.env("KILN_CACHE", self.path(cache))
            .env("TMPDIR", self.root());
        for name in [
            "KILN_TUNED",
            "KILN_STRICT",
            "SLURM_TMPDIR",
            "CARGO_TARGET_DIR",
        ] {
            tune.env_remove(name);
        }
        let root = self.root().to_string_lossy().into_owned();
        tune.args(words.split_whitespace().map(|word| match word {
            "STORE" => store.to_owned(),
            word => word.replace("ROOT", &root),
        }));
        tune
    }
}
