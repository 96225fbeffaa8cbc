//! If a compiler is killed from outside, the compile has no result. No config may be excluded for this reason, no
//! search may be marked as complete without the result, and a config that no compiler can build is not a success.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stdout, tune_alone};
use kiln_tests::plain_package::write_package;
use kiln_tests::script::{first_on_path, write_script};
use serde_json::Value;
use tempfile::TempDir;

const SOURCE: &str = include_str!("../../fixtures/adding/src/add.cu");
const CRATE: &str = include_str!("../../fixtures/adding/src/lib.rs");

/// A package with one problem and four configs.
fn package(source: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary directory should be had");
    let crate_ = CRATE.replace("(n = 1000), ", "");
    let crate_ = crate_.replace("[64, 128, 256]", "[64, 128, 256, 512]");
    let files = [("src/lib.rs", &*crate_), ("src/add.cu", source)];
    write_package(folder.path(), "adding", &files);
    folder
}

/// A wrapper script for a compiler. From the `after`th compile of a kernel on, it does `what` as long as the file
/// `broken` exists.
fn wrapped(root: &Path, compiler: &Path, after: u32, what: &str) -> PathBuf {
    let path = root.join("compiler");
    let (root, compiler) = (root.display(), compiler.display());
    let script = format!(
        "case \"$*\" in *' -o kernel.'*)\n  echo >> {root}/compiles\n  \
         if [ -e {root}/broken ] && [ $(wc -l < {root}/compiles) -gt {after} ]; then {what}; fi;;\n\
         esac\nexec {compiler} \"$@\""
    );
    write_script(&path, &script)
}

fn json(command: &mut Command, code: i32) -> Value {
    let text = stdout(&expect_code(command, code));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_search_whose_compiler_was_killed_stays_open_and_the_next_one_tries_again() {
    let name = "a_search_whose_compiler_was_killed_stays_open_and_the_next_one_tries_again";
    if !have(name, &[Need::HostCompiler]) {
        return;
    }
    let package = package(SOURCE);
    let root = package.path();
    let Some(compiler) = first_on_path(&["g++", "clang++-22", "clang++-19"]) else {
        return;
    };
    let wrapper = wrapped(root, &compiler, 2, "kill -9 $$");
    let run = |words: &str| {
        let mut command = tune_alone(root, &root.join("cache"));
        command.args("run -d cpu --trials all --budget full --jobs 1".split(' '));
        command.args(words.split_whitespace());
        command.env("KILN_CXX", &wrapper);
        command
    };
    fs::write(root.join("broken"), "").expect("a file should be written");
    let first = json(run("").arg("--json"), 0);
    let task = &first["tasks"][0];
    let lost = task["outcomes"]["compiler lost"].as_u64().unwrap_or(0);
    assert!(lost >= 2, "{first:#}");
    assert_eq!(task["state"]["open"]["configs"], lost, "{first:#}");
    assert_eq!(task["outcomes"]["compile failed"], Value::Null, "{first:#}");
    let example = task["examples"]["compiler lost"].as_str();
    assert!(
        example.is_some_and(|text| text.contains("SIGKILL")),
        "{first:#}"
    );

    // The compiler is still broken. The report contains the reason, and a second failure decides nothing.
    let text = stdout(&expect_code(&mut run(""), 0));
    assert!(
        text.contains("SIGKILL") && text.contains("came to no verdict"),
        "{text}"
    );

    fs::remove_file(root.join("broken")).expect("a file should be removed");
    let mended = json(run("").arg("--json"), 0);
    let task = &mended["tasks"][0];
    assert_eq!(task["outcomes"]["compiler lost"], Value::Null, "{mended:#}");
    assert!(mended["compiles"].as_u64() >= Some(2), "{mended:#}");
    assert_eq!(task["state"], "searched", "{mended:#}");
}

#[test]
fn a_check_whose_disk_was_full_fails_and_the_next_one_tries_again() {
    let name = "a_check_whose_disk_was_full_fails_and_the_next_one_tries_again";
    if !have(name, &[Need::AmdClang]) {
        return;
    }
    let package = package(SOURCE);
    let root = package.path();
    let found = [
        "clang++-22",
        "clang++-21",
        "clang++-20",
        "clang++-19",
        "clang++",
    ];
    let Some(clang) = first_on_path(&found) else {
        return;
    };
    // The linker of the real compiler is in the same folder as the compiler.
    let clang = fs::canonicalize(clang).expect("a compiler on the path should be there");
    let full = "echo 'error: unable to open output file: No space left on device' >&2; exit 1";
    let wrapper = wrapped(root, &clang, 1, full);
    let check = || {
        let mut command = tune_alone(root, &root.join("cache"));
        command.args("run --target gfx1151 --compile-only --json --jobs 1".split(' '));
        command.env("KILN_HIP_CLANG", &wrapper);
        command
    };
    fs::write(root.join("broken"), "").expect("a file should be written");
    let broken = json(&mut check(), 1);
    let task = &broken[0]["tasks"][0];
    assert_eq!(task["open"], task["excluded"]["disk full"], "{broken:#}");
    assert!(task["open"].as_u64() > Some(0), "{broken:#}");

    fs::remove_file(root.join("broken")).expect("a file should be removed");
    let mended = json(&mut check(), 0);
    let task = &mended[0]["tasks"][0];
    assert_eq!(task["launchable"], task["valid"], "{mended:#}");
}

#[test]
fn a_check_that_finds_nothing_to_launch_fails() {
    if !have("a_check_that_finds_nothing_to_launch_fails", &[Need::Nvrtc]) {
        return;
    }
    // Only the baseline compiles, because it has a separate entry.
    let naive = SOURCE
        .replace("tensor_add", "naive")
        .replace("THREADS", "64");
    let source = SOURCE.replace("THREADS + ", "THREADS + missing + ");
    let package = package(&format!("#ifdef KILN_NONE\n#endif\n{naive}{source}"));
    let root = package.path();
    let lib = root.join("src/lib.rs");
    let crate_ = fs::read_to_string(&lib).expect("the crate should be read");
    let own = "baseline(entry = \"naive\", grid(n.div_ceil(64)), block(64))";
    let crate_ = crate_.replace("baseline(VECTOR_WIDTH = 1, THREADS = 64)", own);
    fs::write(&lib, crate_).expect("the crate should be written");
    let mut command = tune_alone(root, &root.join("cache"));
    command.args("run --target sm_89 --compile-only --json".split(' '));
    let reports = json(&mut command, 1);
    let task = &reports[0]["tasks"][0];
    assert_eq!(task["launchable"], 0, "{reports:#}");
}
