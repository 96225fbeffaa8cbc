//! Crates outside the workspace. They are built against the packages that `cargo package` would publish.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;

use crate::command::{cargo, expect_code, target_dir, tune, workspace};

/// The packages that a user's crate depends on.
const PUBLISHED: [&str; 4] = ["kiln-sim", "kiln-spec", "kiln-macros", "kiln-gpu"];

/// A crate in a temporary directory.
#[derive(Debug)]
pub struct Throwaway {
    directory: TempDir,
}

impl Throwaway {
    /// A crate with this name and these files. `Cargo.toml` is generated.
    ///
    /// # Panics
    /// If a file cannot be written.
    pub fn new(name: &str, files: &[(&str, &str)]) -> Throwaway {
        let directory = tempfile::Builder::new()
            .prefix("kiln-throwaway-")
            .tempdir()
            .expect("a temporary directory should be had");
        let crate_ = Throwaway { directory };
        crate_.write("Cargo.toml", &manifest(name));
        // The lock file has the versions that the workspace has already downloaded, so no network is needed.
        let lock = fs::read(workspace().join("Cargo.lock"))
            .expect("the workspace should have a lock file");
        fs::write(crate_.path().join("Cargo.lock"), lock).expect("the lock file should be written");
        for (path, text) in files {
            crate_.write(path, text);
        }
        crate_
    }

    /// The root folder of the crate.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Writes a file, and creates its folders.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).expect("a folder should be made");
        }
        fs::write(path, text).expect("a file should be written");
    }

    /// Reads a file.
    ///
    /// # Panics
    /// If the file cannot be read.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// A cargo command that runs in this crate. All throw-away crates share one target folder, so dependencies are
    /// built once.
    pub fn cargo(&self) -> std::process::Command {
        let mut command = cargo(self.path());
        command.env("CARGO_TARGET_DIR", target_dir().join("throwaway/target"));
        command.env("CARGO_NET_OFFLINE", "true").env("CI", "true");
        // Each crate is built only once, so incremental builds are useless.
        command.env("CARGO_INCREMENTAL", "0");
        command.env("CARGO_PROFILE_DEV_DEBUG", "0");
        command.env("KILN_CACHE", self.path().join("cache"));
        for name in ["KILN_TUNED", "KILN_STRICT", "KILN_CXX", "KILN_CPU_THREADS"] {
            command.env_remove(name);
        }
        command
    }

    /// A `tune` command that runs in another folder, with the crate's manifest as an argument.
    pub fn tune(&self, words: &str) -> std::process::Command {
        let mut command = tune(&std::env::temp_dir(), &self.path().join("cache"));
        command.args(words.split(' '));
        command
            .arg("--manifest-path")
            .arg(self.path().join("Cargo.toml"));
        command
    }
}

fn manifest(name: &str) -> String {
    let packages = packaged();
    let patches: String = PUBLISHED
        .iter()
        .map(|package| format!("{package} = {{ path = {:?} }}\n", packages.join(package)))
        .collect();
    // In one target folder, cargo distinguishes packages of the same name by their version, not by their path.
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let version =
        u64::from(std::process::id()) * 1000 + u64::from(NEXT.fetch_add(1, Ordering::Relaxed));
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.{version}\"\nedition = \"2024\"\n\n\
         [dependencies]\nkiln-gpu = \"0.1\"\n\n[patch.crates-io]\n{patches}\n[workspace]\n"
    )
}

/// The unpacked packages, one folder per package. They are packed again if a source file is newer than the packages.
fn packaged() -> PathBuf {
    let folder = target_dir().join("throwaway/packages");
    fs::create_dir_all(&folder).expect("the folder of packages should be made");
    let lock = File::create(folder.join("lock")).expect("a lock file should be made");
    lock.lock().expect("the lock should be had");
    if is_current(&folder) {
        return folder;
    }
    let mut package = cargo(&workspace());
    package.args([
        "package",
        "--no-verify",
        "--allow-dirty",
        "--quiet",
        "--offline",
    ]);
    package.env("CARGO_TARGET_DIR", folder.join("target"));
    for name in PUBLISHED {
        package.args(["--package", name]);
    }
    expect_code(&mut package, 0);
    for name in PUBLISHED {
        unpack(&folder, name);
    }
    fs::write(folder.join("stamp"), "").expect("the stamp should be written");
    folder
}

fn unpack(folder: &Path, name: &str) {
    let version = env!("CARGO_PKG_VERSION");
    let archive = folder.join(format!("target/package/{name}-{version}.crate"));
    let target = folder.join(name);
    let _ = fs::remove_dir_all(&target);
    fs::create_dir_all(&target).expect("a package's folder should be made");
    let mut tar = std::process::Command::new("tar");
    // Sets current times. The times in the archive never change, and cargo compares times.
    tar.arg("-xzmf")
        .arg(archive)
        .arg("--strip-components=1")
        .arg("-C")
        .arg(&target);
    expect_code(&mut tar, 0);
}

fn is_current(folder: &Path) -> bool {
    let Ok(stamp) = fs::metadata(folder.join("stamp")).and_then(|meta| meta.modified()) else {
        return false;
    };
    [
        "sim",
        "spec",
        "macros",
        "runtime",
        "Cargo.toml",
        "Cargo.lock",
    ]
    .iter()
    .all(|part| !newer_than(&workspace().join(part), stamp))
}

fn newer_than(path: &Path, stamp: std::time::SystemTime) -> bool {
    let Ok(meta) = fs::metadata(path) else {
        return false;
    };
    if meta.is_dir() {
        let Ok(entries) = fs::read_dir(path) else {
            return true;
        };
        return entries
            .flatten()
            .any(|entry| newer_than(&entry.path(), stamp));
    }
    meta.modified().is_ok_and(|modified| modified > stamp)
}
