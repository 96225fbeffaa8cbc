//! Runs one test of a built program.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::build::{self, Programs};
use super::list::{Mutation, Test};
use super::tree::Tree;
use crate::step;

/// Maximum duration of a test. The result of a test that takes longer is inconclusive.
const DEADLINE: Duration = Duration::from_secs(600);

/// The result of running a test.
#[derive(Clone, Debug, PartialEq)]
pub enum Tried {
    /// The test passed.
    Passed,
    /// The test failed, or its process died.
    Failed {
        /// How long the test ran, in seconds.
        seconds: f64,
    },
    /// The test skipped what it is supposed to check. Contains the reason.
    Skipped(String),
    /// The program does not contain the test.
    NotThere,
    /// The test did not end before the deadline.
    Endless,
}

/// Runs a test of a built program, with or without a mutation. The output is stored in a file.
///
/// # Errors
/// If the program cannot be started.
pub fn run(
    tree: &Tree,
    programs: &Programs,
    test: &Test,
    mutation: Option<&Mutation>,
) -> Result<Tried, String> {
    let Some(program) = programs.get(&(test.package.clone(), test.binary.clone())) else {
        return Ok(Tried::NotThere);
    };
    let start = Instant::now();
    let name = mutation.map_or("unmutated", |mutation| mutation.name.as_str());
    let file = tree.output().join(file_name(name, test));
    fs::create_dir_all(tree.output()).map_err(|error| format!("{}: {error}", file.display()))?;
    let cache = match mutation {
        None => tree.cache(),
        Some(_) => tree.broken_cache(),
    };
    let mut command = Command::new(&program.file);
    command.args(["--exact", &test.name, "--show-output"]);
    build::clean(&mut command, tree);
    command
        .current_dir(&program.folder)
        .env("CARGO_MANIFEST_DIR", &program.folder)
        .env("KILN_CACHE", cache)
        .env("LD_LIBRARY_PATH", libraries());
    if let Some(data) = recorded_data() {
        command.env("KILN_DATA", data);
    }
    let Some(status) = wait(&mut command, &file)? else {
        return Ok(Tried::Endless);
    };
    let said = fs::read_to_string(&file).unwrap_or_default();
    let seconds = start.elapsed().as_secs_f64();
    Ok(read(status.success(), &said, seconds))
}

/// Runs a command until it ends or reaches the deadline, and writes its output to a file. `None` if the command was
/// killed at the deadline.
fn wait(command: &mut Command, file: &Path) -> Result<Option<ExitStatus>, String> {
    let failed = |error| format!("{}: {error}", file.display());
    let output = File::create(file).map_err(failed)?;
    command.stderr(output.try_clone().map_err(failed)?);
    let mut child = command.stdout(output).spawn().map_err(failed)?;
    let start = Instant::now();
    while start.elapsed() < DEADLINE {
        if let Some(status) = child.try_wait().map_err(failed)? {
            return Ok(Some(status));
        }
        sleep(Duration::from_millis(10));
    }
    child.kill().and_then(|()| child.wait()).map_err(failed)?;
    Ok(None)
}

/// Determines the result from the output of a test program that was told to run one test.
fn read(succeeded: bool, said: &str, seconds: f64) -> Tried {
    let skip = said.lines().find_map(|line| line.strip_prefix("skipped: "));
    if !said.contains("running 1 test") {
        Tried::NotThere
    } else if !succeeded {
        // Only this test ran. If the program did not succeed, this test failed, even if the process died.
        Tried::Failed { seconds }
    } else {
        skip.map_or(Tried::Passed, |why| Tried::Skipped(why.to_owned()))
    }
}

/// The name of the file for the output of a test.
fn file_name(name: &str, test: &Test) -> String {
    let plain = |c: char| if c.is_alphanumeric() { c } else { '-' };
    let last = test.name.rsplit("::").next().unwrap_or_default();
    let name: String = format!("{name} {last}").chars().map(plain).collect();
    name + ".txt"
}

/// The library path for tests of macros, which are linked with Rust's own libraries, so it contains the folder of these
/// libraries.
fn libraries() -> OsString {
    let mut rustc = Command::new("rustc");
    let output = rustc.args(["--print", "target-libdir"]).output();
    let folder = output.map_or(Vec::new(), |output| output.stdout);
    let folder = String::from_utf8_lossy(&folder).trim().to_owned();
    let earlier = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let folders = std::iter::once(PathBuf::from(folder)).chain(std::env::split_paths(&earlier));
    std::env::join_paths(folders).unwrap_or(earlier)
}

/// The folder of recorded tuning data; `None` if this machine has none. Without this path, tests in the copy would look
/// for the folder next to the copy.
fn recorded_data() -> Option<PathBuf> {
    let beside = step::root().join("../shared/data");
    let given = std::env::var_os("KILN_DATA").map(PathBuf::from);
    given.or_else(|| beside.is_dir().then_some(beside))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_test_that_ran_fails_or_passes() {
        let ran = "running 1 test\ntest a ... ";
        assert_eq!(read(true, &format!("{ran}ok"), 1.0), Tried::Passed);
        let failed = Tried::Failed { seconds: 1.0 };
        assert_eq!(read(false, &format!("{ran}FAILED"), 1.0), failed);
        assert_eq!(read(false, ran, 1.0), failed, "its process died");
        assert_eq!(read(true, "running 0 tests", 1.0), Tried::NotThere);
        assert_eq!(read(false, "cannot be loaded", 1.0), Tried::NotThere);
        let skipped = format!("{ran}ok\n---- a stdout ----\nskipped: a: no GPU\n");
        assert_eq!(
            read(true, &skipped, 1.0),
            Tried::Skipped("a: no GPU".into())
        );
    }
}
