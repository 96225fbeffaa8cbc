//! Runs the test programs without nextest. Several programs run in parallel, and the tests of each program run one
//! after another.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use serde_json::Value;

use super::PROFILE;
use crate::step::cargo;

/// A test program that cargo built.
struct Program {
    /// The name of the program's package and target.
    name: String,
    path: PathBuf,
    /// The folder of the program's package, in which its tests run.
    folder: PathBuf,
}

/// How many tests passed, failed and were ignored, in one program or in all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: usize,
    failed: usize,
    ignored: usize,
}

/// Programs whose tests take minutes. They start first, so that none of them is still running when all others have
/// ended.
const LONG: [&str; 7] = [
    "tuning",
    "users",
    "devices",
    "library",
    "device_prelude",
    "found_kernels",
    "ui",
];

/// Builds all test programs and runs them.
///
/// # Errors
/// If a program does not build, or if a test fails.
pub(super) fn run(environment: &[(&str, &Path)]) -> Result<(), String> {
    let mut programs = build()?;
    programs.sort_by_key(|program| !LONG.iter().any(|long| program.name.ends_with(long)));
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let counts = run_one(program, environment);
            let mut done = done.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            done.push((program.name.as_str(), counts));
            eprintln!(
                "xtask: tests: {} of {} programs",
                done.len(),
                programs.len()
            );
        }
    };
    let threads = super::lanes();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let done = done
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    summary(&done)
}

/// Builds the test programs, and finds them in cargo's output.
fn build() -> Result<Vec<Program>, String> {
    let mut build = cargo(&["test", "--workspace", "--no-run", "--profile", PROFILE]);
    build.args(["--lib", "--bins", "--tests"]);
    build.args(["--message-format", "json-render-diagnostics"]);
    let output = build.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("tests: cannot start cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("tests: they do not build: {}", output.status));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    Ok(said.lines().filter_map(program).collect())
}

/// The test program in a message of cargo; `None` for other messages.
fn program(line: &str) -> Option<Program> {
    let message: Value = serde_json::from_str(line).ok()?;
    if message["profile"]["test"] != true {
        return None;
    }
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
    let package = folder.file_name()?.to_string_lossy();
    let target = message["target"]["name"].as_str()?;
    Some(Program {
        name: format!("{package}::{target}"),
        path: message["executable"].as_str()?.into(),
        folder: folder.to_owned(),
    })
}

/// Runs the tests of a program. Prints its output if a test fails.
fn run_one(program: &Program, environment: &[(&str, &Path)]) -> Option<Counts> {
    let start = Instant::now();
    let mut command = Command::new(&program.path);
    command.arg("--test-threads=1").current_dir(&program.folder);
    command.env("CARGO_MANIFEST_DIR", &program.folder);
    command.envs(environment.iter().copied());
    let output = command.output();
    let counts = output.as_ref().ok().and_then(counts);
    let seconds = start.elapsed().as_secs_f64();
    match (output, counts) {
        (Ok(output), Some(counts)) if output.status.success() => {
            eprintln!(
                "{}: {} passed in {seconds:.1} s",
                program.name, counts.passed
            );
        }
        (Ok(output), _) => eprintln!(
            "{}: {} after {seconds:.1} s\n{}{}",
            program.name,
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        ),
        (Err(error), _) => eprintln!("{}: cannot start: {error}", program.name),
    }
    counts
}

/// The counts in the last line of a test program's output. `None` if there is no such line, for example after a
/// crash.
fn counts(output: &Output) -> Option<Counts> {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text
        .lines()
        .rev()
        .find(|line| line.starts_with("test result: "))?;
    let count = |what: &str| {
        let before = line.split_once(&format!(" {what}"))?.0;
        before.rsplit(' ').next()?.parse().ok()
    };
    Some(Counts {
        passed: count("passed")?,
        failed: count("failed")?,
        ignored: count("ignored")?,
    })
}

/// Prints the counts of all programs. It is an error if a test failed.
fn summary(done: &[(&str, Option<Counts>)]) -> Result<(), String> {
    let mut all = Counts::default();
    let mut failed = Vec::new();
    for (name, counts) in done {
        let counts = counts.unwrap_or(Counts {
            failed: 1,
            ..Counts::default()
        });
        all.passed += counts.passed;
        all.failed += counts.failed;
        all.ignored += counts.ignored;
        if counts.failed > 0 {
            failed.push(*name);
        }
    }
    eprintln!(
        "test result: {} passed, {} failed, {} ignored, in {} programs",
        all.passed,
        all.failed,
        all.ignored,
        done.len()
    );
    match failed.as_slice() {
        [] => Ok(()),
        failed => Err(format!("tests failed in {}", failed.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    use super::*;

    fn output(stdout: &str) -> Output {
        Output {
            status: ExitStatus::from_raw(0),
            stdout: stdout.into(),
            stderr: Vec::new(),
        }
    }

    #[test]
    fn tests_are_counted_from_the_last_line_of_their_program() {
        let line = "test result: FAILED. 12 passed; 1 failed; 3 ignored; 0 measured; 0 filtered out; finished in 2.01s";
        let said = output(&format!(
            "running 16 tests\ntest result: no line\n\n{line}\n"
        ));
        let expected = Counts {
            passed: 12,
            failed: 1,
            ignored: 3,
        };
        assert_eq!(counts(&said), Some(expected));
        assert_eq!(counts(&output("running 16 tests\n")), None);
    }

    #[test]
    fn a_program_that_says_nothing_has_failed() {
        let one = Counts {
            passed: 1,
            ..Counts::default()
        };
        assert_eq!(summary(&[("a", Some(one))]), Ok(()));
        let error = summary(&[("a", Some(one)), ("b", None)]).unwrap_err();
        assert_eq!(error, "tests failed in b");
    }

    #[test]
    fn programs_are_what_cargo_built_for_tests() {
        let line = |test: bool| {
            format!(
                r#"{{"manifest_path": "/k/tests/Cargo.toml", "target": {{"name": "peers"}}, "profile": {{"test": {test}}}, "executable": "/k/target/peers-1"}}"#
            )
        };
        let found = program(&line(true)).expect("it is a test program");
        assert_eq!(found.name, "tests::peers");
        assert_eq!(found.folder, Path::new("/k/tests"));
        assert!(program(&line(false)).is_none());
        assert!(program("   Compiling kiln").is_none());
    }
}
