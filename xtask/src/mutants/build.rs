//! Builds tests in the copy of the work tree, and finds the programs that cargo built.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use super::list::Test;
use super::tree::Tree;
use crate::suite::PROFILE;

/// For each package and test file, the program that contains its tests.
pub type Programs = BTreeMap<(String, String), Program>;

/// A program that runs tests.
#[derive(Clone, Debug)]
pub struct Program {
    /// The path of the program.
    pub file: PathBuf,
    /// The folder of the program's package, in which its tests run.
    pub folder: PathBuf,
}

/// The result of a build.
pub enum Built {
    /// The build succeeded. Contains every test program that cargo built.
    Programs(Programs),
    /// The build failed. Contains the errors of the compiler.
    Failed(String),
}

/// Builds the programs that contain these tests, and the programs that the tests run. The command is always for the
/// whole workspace, as in the suite, so that the features are always the same. With commands for single packages, each
/// set of features would need another build of the library.
///
/// # Errors
/// If cargo cannot be started.
pub fn build<'t>(tree: &Tree, tests: impl Iterator<Item = &'t Test>) -> Result<Built, String> {
    let mut binaries = BTreeSet::new();
    for test in tests {
        binaries.insert(test.binary.as_str());
        if test.tune {
            binaries.insert(TESTS_OF_TUNE);
        }
    }
    run(tests_of(tree, &binaries))
}

/// A test file in the package of `tune`. When cargo builds it, it also builds the programs of the package.
const TESTS_OF_TUNE: &str = "program";

fn tests_of(tree: &Tree, binaries: &BTreeSet<&str>) -> Command {
    let mut command = cargo(tree, &["test", "--no-run", "--workspace"]);
    for binary in binaries {
        match *binary {
            "lib" => command.arg("--lib"),
            file => command.args(["--test", file]),
        };
    }
    command
}

fn run(mut cargo: Command) -> Result<Built, String> {
    let output = cargo
        .output()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    let messages = String::from_utf8_lossy(&output.stdout).into_owned();
    let messages: Vec<Message> = messages
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    if output.status.success() {
        return Ok(Built::Programs(programs(&messages)));
    }
    let said = messages.iter().find_map(Message::error);
    let said = said.unwrap_or_else(|| String::from_utf8_lossy(&output.stderr).into_owned());
    Ok(Built::Failed(said))
}

/// A cargo command in the copy, without environment variables that would change the build.
fn cargo(tree: &Tree, words: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(words).current_dir(tree.folder());
    command.args(["--profile", PROFILE, "--message-format", "json"]);
    clean(&mut command, tree);
    command
}

/// Environment variables of Kiln that change what is built or tested. Variables that only say where tools and data are,
/// such as `KILN_DATA`, stay set.
const CHANGES: [&str; 11] = [
    "KILN_BARS",
    "KILN_CACHE_BYTES",
    "KILN_COMPILE_LIMIT_S",
    "KILN_CPU_THREADS",
    "KILN_CXX",
    "KILN_REQUIRE",
    "KILN_SMOKE_DEADLINE_S",
    "KILN_SMOKE_DEVICE",
    "KILN_STRICT",
    "KILN_TEST_DEVICE",
    "KILN_TUNED",
];

/// Removes environment variables that would change builds and tests, and sets the target folder.
pub fn clean(command: &mut Command, tree: &Tree) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || CHANGES.contains(&&*text) {
            command.env_remove(&name);
        }
    }
    // With `CI`, a test fails if a tool is missing. This would look like a mutation that the test caught.
    command.env_remove("CI").env_remove("CARGO_MANIFEST_DIR");
    command.env("CARGO_TARGET_DIR", tree.target());
    // Build incrementally, because each mutation changes only one line.
    command.env("CARGO_INCREMENTAL", "1");
}

/// A message of cargo about one program or one error.
#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    package_id: String,
    #[serde(default)]
    manifest_path: PathBuf,
    target: Option<Target>,
    executable: Option<PathBuf>,
    message: Option<Diagnostic>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Diagnostic {
    level: String,
    rendered: Option<String>,
}

impl Message {
    fn error(&self) -> Option<String> {
        let diagnostic = self.message.as_ref()?;
        let is_error = self.reason == "compiler-message" && diagnostic.level == "error";
        is_error.then(|| diagnostic.rendered.clone()).flatten()
    }
}

fn programs(messages: &[Message]) -> Programs {
    let mut programs = Programs::new();
    for message in messages {
        let (Some(target), Some(file)) = (&message.target, &message.executable) else {
            continue;
        };
        let binary = match target.kind.first().map(String::as_str) {
            Some("test") => target.name.clone(),
            Some("lib" | "proc-macro") => "lib".to_owned(),
            _ => continue,
        };
        let folder = message.manifest_path.parent().unwrap_or(Path::new(""));
        let program = Program {
            file: file.clone(),
            folder: folder.to_owned(),
        };
        programs.insert((package(&message.package_id), binary), program);
    }
    programs
}

/// The name of the package with this id: `kiln` for `…/runtime#kiln@0.1.0`. If the id has no name, as in
/// `…/xtask#0.1.0`, the name of the folder.
fn package(id: &str) -> String {
    let (place, version) = id.rsplit_once('#').unwrap_or((id, ""));
    let name = match version.split_once('@') {
        Some((name, _)) => name,
        None => place.rsplit('/').next().unwrap_or(place),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_known_by_its_id() {
        assert_eq!(package("path+file:///a/runtime#kiln@0.1.0"), "kiln");
        assert_eq!(package("path+file:///a/xtask#0.1.0"), "xtask");
    }

    #[test]
    fn programs_and_errors_are_found_among_cargos_messages() {
        let text = |line: &str| serde_json::from_str::<Message>(line).unwrap();
        let built = text(
            r#"{"reason":"compiler-artifact","package_id":"path+file:///a/runtime#kiln@0.1.0",
                "manifest_path":"/a/runtime/Cargo.toml","target":{"kind":["test"],"name":"launch"},"executable":"/b/launch-1"}"#,
        );
        let library = text(
            r#"{"reason":"compiler-artifact","package_id":"x#1","target":{"kind":["lib"],"name":"x"},"executable":null}"#,
        );
        let error = text(
            r#"{"reason":"compiler-message","message":{"level":"error","rendered":"error: no"}}"#,
        );
        let programs = programs(&[built, library]);
        let launch = &programs[&("kiln".to_owned(), "launch".to_owned())];
        assert_eq!(
            (programs.len(), launch.folder.as_path()),
            (1, Path::new("/a/runtime"))
        );
        assert_eq!(error.error().as_deref(), Some("error: no"));
    }
}
