//! Runs the real `tune` program and the real cargo.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use kiln_project::tables::TableFolder;
use kiln_spec::baked::Index;

/// The root folder of the workspace.
pub fn workspace() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().map(PathBuf::from).unwrap_or(here)
}

/// The `tune` program, built once, in the profile of the tests themselves.
pub fn tune_program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let mut build = cargo(&workspace());
        // Builds `tune` as a part of the whole workspace, with the features that the suite uses. With other features,
        // cargo would build `tune` a second time. Cargo builds the programs of a package for its integration tests, and
        // `program` is the integration test of `tune`.
        build.args(["test", "--quiet", "--profile", profile()]);
        build.args(["--workspace", "--no-run", "--test", "program"]);
        build.args(["--message-format", "json-render-diagnostics"]);
        if cfg!(feature = "s3") {
            build.args(["--features", "kiln-tests/s3"]);
        }
        let output = build.stderr(Stdio::inherit()).output();
        let output = output.expect("cargo should start");
        assert!(output.status.success(), "tune should build");
        let program = built("tune");
        // Without this check, an outdated program from an earlier build could be used.
        let said = String::from_utf8_lossy(&output.stdout);
        let named = format!("\"executable\":\"{}\"", program.display());
        assert!(
            said.contains(&named),
            "cargo should have built {}",
            program.display()
        );
        lasting(&program)
    })
}

/// Another name of a program that cargo built. Cargo replaces the program if another command builds it with other
/// features, and then it is absent for a moment.
///
/// # Panics
/// If the program is absent for longer, or the name cannot be made.
pub fn lasting(program: &Path) -> PathBuf {
    let patience = Duration::from_secs(30);
    let start = Instant::now();
    loop {
        match lasting_now(program) {
            Ok(link) => return link,
            Err(error) if error.kind() == ErrorKind::NotFound && start.elapsed() < patience => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(error) => panic!("{}: {error}", program.display()),
        }
    }
}

fn lasting_now(program: &Path) -> std::io::Result<PathBuf> {
    let file = std::fs::metadata(program)?;
    let folder = target_dir().join(profile_folder()).join("lasting");
    let folder = folder.join(file.ino().to_string());
    std::fs::create_dir_all(&folder)?;
    let link = folder.join(program.file_name().unwrap_or_default());
    match std::fs::hard_link(program, &link) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(link),
        made => made.map(|()| link),
    }
}

/// The profile in which the tests themselves were built.
///
/// # Panics
/// If this program does not run from cargo's target directory.
pub fn profile() -> &'static str {
    static PROFILE: OnceLock<String> = OnceLock::new();
    PROFILE.get_or_init(|| match profile_folder().as_str() {
        "debug" => "dev".to_owned(),
        profile => profile.to_owned(),
    })
}

/// A file that cargo builds in the profile [`profile`].
///
/// # Panics
/// The same as for [`profile`].
pub fn built(name: &str) -> PathBuf {
    target_dir().join(profile_folder()).join(name)
}

/// The folder of the current profile. Test programs are in `target/<folder>/deps`.
fn profile_folder() -> String {
    let program = std::env::current_exe().expect("a test should know where it is");
    let folder = program.ancestors().nth(2).and_then(Path::file_name);
    let folder = folder.expect("a test should be where cargo built it");
    folder.to_string_lossy().into_owned()
}

/// A command that runs one ignored test of this program in a separate process. `module` is the `module_path!()` of the
/// test, and `test` is its path relative to this module.
///
/// # Panics
/// If this program has no path.
pub fn child_test(module: &str, test: &str) -> Command {
    let program = std::env::current_exe().expect("this program should have a path");
    // The test harness omits the name of the crate.
    let test = match module.split_once("::") {
        Some((_, module)) => format!("{module}::{test}"),
        None => test.to_owned(),
    };
    let mut command = Command::new(program);
    command.args([&test, "--exact", "--ignored", "--nocapture"]);
    command
}

/// The target directory of this workspace.
pub fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from)
}

/// A `tune` command that runs in a directory, with its own cache and without inherited variables that would change its
/// behaviour. All tests share one folder of compiled kernels, which are found by the hash of their inputs and kept
/// between runs.
///
/// # Panics
/// If the folder of the cache cannot be written.
pub fn tune(directory: &Path, cache: &Path) -> Command {
    std::fs::create_dir_all(cache).expect("a folder should be made");
    if let Err(error) = std::os::unix::fs::symlink(shared_artifacts(), cache.join("artifacts")) {
        assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists, "{error}");
    }
    tune_alone(directory, cache)
}

/// The folder of the compiled kernels that all tests share.
///
/// # Panics
/// If the folder cannot be written.
pub fn shared_artifacts() -> PathBuf {
    let folder = target_dir().join("tests-cache/artifacts");
    std::fs::create_dir_all(&folder).expect("a folder should be made");
    folder
}

/// Like [`tune`], but without the shared kernels. Tests of compiling and of the contents of a cache use it.
///
/// # Panics
/// If the folder of the cache cannot be written.
pub fn tune_alone(directory: &Path, cache: &Path) -> Command {
    let mut command = Command::new(tune_program());
    command
        .current_dir(directory)
        .env("KILN_CACHE", cache)
        .env("CI", "true");
    for name in ["KILN_TUNED", "KILN_STRICT", "KILN_CXX", "KILN_CPU_THREADS"] {
        command.env_remove(name);
    }
    // Rows for this machine's CPU are in the target folder. Tests must not read or write rows that a user tuned.
    if directory.starts_with(workspace()) && !directory.starts_with(target_dir()) {
        let target = cache.join("target");
        write_empty_index(&target);
        command.env("CARGO_TARGET_DIR", target);
    }
    command
}

/// Writes an index without tables for the kernel library, if there is none. When `tune` writes the first index of a
/// package, it marks the sources of the package as changed. Cargo would then build the library again, and other tests
/// would wait for that.
fn write_empty_index(target: &Path) {
    let folder = TableFolder::new(target.join("kiln/tuned/kiln-kernels"));
    if folder.index_path().exists() {
        return;
    }
    folder.create().expect("a folder should be made");
    let written = folder.write_index(&Index::default());
    written.expect("an index should be written");
}

/// A cargo command that runs in a directory, without the variables of the cargo that runs the tests.
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

/// Runs a command to its end, and expects this exit code.
///
/// # Panics
/// If the command does not start, or ends with another exit code. The message contains the complete output.
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
