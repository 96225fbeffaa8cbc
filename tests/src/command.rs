//! Running the real `tune` and the real cargo.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// The workspace root.
pub fn workspace() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().map(PathBuf::from).unwrap_or(here)
}

/// The `tune` program, built once in the profile that the tests themselves were built in.
pub fn tune_program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let mut build = cargo(&workspace());
        // As a part of the whole workspace, with the features that the suite builds it with: with others it would be built a
        // second time. Cargo builds the programs of a package for its integration tests; `program` is the one of `tune`.
        build.args(["test", "--quiet", "--profile", profile()]);
        build.args(["--workspace", "--no-run", "--test", "program"]);
        build.args(["--message-format", "json-render-diagnostics"]);
        let output = build.stderr(Stdio::inherit()).output();
        let output = output.expect("cargo should start");
        assert!(output.status.success(), "tune should build");
        let program = built("tune");
        // Else it would be one of an earlier build.
        let said = String::from_utf8_lossy(&output.stdout);
        let named = format!("\"executable\":\"{}\"", program.display());
        assert!(
            said.contains(&named),
            "cargo should have built {}",
            program.display()
        );
        program
    })
}

/// The profile that the tests themselves were built in.
///
/// # Panics
/// When they do not run from where cargo built them.
pub fn profile() -> &'static str {
    static PROFILE: OnceLock<String> = OnceLock::new();
    PROFILE.get_or_init(|| match profile_folder().as_str() {
        "debug" => "dev".to_owned(),
        profile => profile.to_owned(),
    })
}

/// A file that cargo builds in [`profile`].
///
/// # Panics
/// As [`profile`].
pub fn built(name: &str) -> PathBuf {
    target_dir().join(profile_folder()).join(name)
}

/// The folder of that profile: tests are in `target/<folder>/deps`.
fn profile_folder() -> String {
    let program = std::env::current_exe().expect("a test should know where it is");
    let folder = program.ancestors().nth(2).and_then(Path::file_name);
    let folder = folder.expect("a test should be where cargo built it");
    folder.to_string_lossy().into_owned()
}

/// Where this workspace builds to.
pub fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from)
}

/// `tune` in a directory, with a cache of its own and nothing inherited that would change what it does. Compiled kernels
/// are those of all tests: they are found by what they were compiled from and with, and kept from run to run.
///
/// # Panics
/// When the disk refuses.
pub fn tune(directory: &Path, cache: &Path) -> Command {
    std::fs::create_dir_all(cache).expect("a folder should be made");
    if let Err(error) = std::os::unix::fs::symlink(shared_artifacts(), cache.join("artifacts")) {
        assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists, "{error}");
    }
    tune_alone(directory, cache)
}

/// The folder of compiled kernels that all tests share.
///
/// # Panics
/// When the disk refuses.
pub fn shared_artifacts() -> PathBuf {
    let folder = target_dir().join("tests-cache/artifacts");
    std::fs::create_dir_all(&folder).expect("a folder should be made");
    folder
}

/// As [`tune`], and kernels are compiled anew: for tests of compiling and of what lies in a cache.
pub fn tune_alone(directory: &Path, cache: &Path) -> Command {
    let mut command = Command::new(tune_program());
    command
        .current_dir(directory)
        .env("KILN_CACHE", cache)
        .env("CI", "true");
    for name in ["KILN_TUNED", "KILN_STRICT", "KILN_CXX", "KILN_CPU_THREADS"] {
        command.env_remove(name);
    }
    // The rows of this machine's cpu are in the target folder. Those that a user tuned are not the tests' to read or write.
    if directory.starts_with(workspace()) && !directory.starts_with(target_dir()) {
        command.env("CARGO_TARGET_DIR", cache.join("target"));
    }
    command
}

/// Cargo in a directory, without what the surrounding cargo left in the environment.
pub fn cargo(directory: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(directory);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let inherited = text.starts_with("CARGO_PKG_")
            || text.starts_with("CARGO_BIN")
            || text == "CARGO_MANIFEST_DIR";
        if inherited || text == "RUSTFLAGS" || text == "CARGO_MANIFEST_PATH" {
            command.env_remove(&name);
        }
    }
    command
}

/// Runs to the end; panics with everything printed unless the exit code is the expected one.
///
/// # Panics
/// When the command cannot start or ends otherwise.
pub fn expect_code(command: &mut Command, code: i32) -> Output {
    let output = command.output().expect("the command should start");
    assert_eq!(
        output.status.code(),
        Some(code),
        "{command:?}\n--- stdout\n{}\n--- stderr\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Standard output as text.
pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Standard error as text.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
