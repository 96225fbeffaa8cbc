//! Checks the course in `examples/`: every program runs, and its output matches its documentation.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use kiln_spec::baked::Index;
use kiln_spec::{Backend, DeviceKey};
use kiln_tests::capability::{Need, have};
use kiln_tests::command::{
    built, cargo, expect_code, lasting, profile, stderr, stdout, target_dir, tune, workspace,
};
use kiln_tests::console::{Promise, module_documentation, promises};
use kiln_tests::tables;

/// Locks the programs of the course while one is built or run, because a build with other tables replaces them.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn folder() -> PathBuf {
    workspace().join("examples")
}

/// The names of the course's programs, which begin with a number.
fn examples() -> Vec<String> {
    let entries = fs::read_dir(folder()).expect("the course should be there");
    let entries = entries.filter_map(Result::ok);
    let examples = entries.filter(|entry| entry.path().join("main.rs").is_file());
    let names = examples.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let numbered = names.filter(|name| name.starts_with(|first: char| first.is_ascii_digit()));
    let mut names: Vec<_> = numbered.collect();
    names.sort();
    names
}

fn text_of(path: &str) -> String {
    let path = folder().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The target folder for the course's rows. It is always the same, so programs that use the rows are not rebuilt.
fn tune_target() -> PathBuf {
    target_dir().join("course/target")
}

/// The command for the command line of a promise. Programs are built with the features of the whole suite, because with
/// the features of one package, cargo would build the library a second time.
fn command_of(line: &str, cache: &Path) -> Command {
    let (variable, line) = match line.split_once(' ') {
        Some((first, rest)) if first.contains('=') => (first.split_once('='), rest),
        _ => (None, line),
    };
    let variable = variable.map(|(name, value)| {
        let target = tune_target().display().to_string();
        (name, value.replace("$PWD/target", &target))
    });
    let words: Vec<&str> = line.split(' ').collect();
    let mut command = match words[..] {
        ["cargo", "tune", ..] => {
            let mut command = tune(&workspace(), cache);
            command
                .args(&words[2..])
                .env("CARGO_TARGET_DIR", tune_target());
            command
        }
        ["cargo", "run", "--example", name] => {
            let mut build = of_the_suite("build");
            build.args(["--quiet", "--example", name]);
            expect_code(build.envs(variable.clone()), 0);
            let mut program = Command::new(lasting(&built("examples").join(name)));
            program.current_dir(workspace());
            program
        }
        ["cargo", "test", ..] => {
            let mut test = of_the_suite("test");
            test.args(&words[2..]);
            test
        }
        _ => panic!("`{line}` is not a command of the course"),
    };
    if words[1] != "tune" {
        command.env("KILN_CACHE", cache);
        for name in ["KILN_TUNED", "KILN_STRICT", "KILN_CXX", "KILN_CPU_THREADS"] {
            command.env_remove(name);
        }
    }
    command.envs(variable);
    command
}

/// A cargo command for all packages of the workspace, in the profile of these tests.
fn of_the_suite(word: &str) -> Command {
    let mut command = cargo(&workspace());
    command.args([word, "--offline", "--workspace", "--profile", profile()]);
    for name in ["KILN_TUNED", "KILN_STRICT"] {
        command.env_remove(name);
    }
    command
}

fn keep(promise: &Promise, cache: &Path) {
    println!("$ {}", promise.command);
    let mut command = command_of(&promise.command, cache);
    let output = expect_code(&mut command, 0);
    if let Err(differs) = promise.check(&stdout(&output)) {
        panic!("{differs}\n--- stderr\n{}", stderr(&output));
    }
}

#[test]
fn every_example_prints_what_its_documentation_promises() {
    let name = "every_example_prints_what_its_documentation_promises";
    if !have(name, &[Need::HostCompiler]) {
        return;
    }
    let _alone = alone();
    let cache = tempfile::tempdir().expect("a temporary directory should be had");
    let examples = examples();
    assert!(examples.len() >= 7, "{examples:?}");
    for example in examples {
        let promises = promises(&module_documentation(&text_of(&format!(
            "{example}/main.rs"
        ))));
        let own = format!("cargo run --example {example}");
        assert!(
            promises.first().is_some_and(|first| first.command == own),
            "{example} should first say how it is run"
        );
        for promise in &promises {
            keep(promise, cache.path());
        }
    }
}

#[test]
fn without_a_compiler_every_example_says_so_and_what_to_install() {
    let _alone = alone();
    expect_code(of_the_suite("build").args(["--quiet", "--examples"]), 0);
    for example in examples() {
        let mut run = Command::new(lasting(&built("examples").join(&example)));
        run.env("PATH", "").env_remove("KILN_CXX");
        let said = stderr(&expect_code(&mut run, 1));
        for part in [
            "error: ",
            "a C++ compiler was not found",
            "\nhelp: ",
            "install clang or g++",
        ] {
            assert!(said.contains(part), "{example}: {said}");
        }
    }
}

#[test]
fn the_course_is_listed_and_a_plain_tune_does_not_see_it() {
    let (readme, library) = (text_of("README.md"), text_of("lib.rs"));
    for example in examples() {
        assert!(
            readme.contains(&format!("]({example}/main.rs)")),
            "{example}"
        );
        assert!(
            library.contains(&format!("\"{example}/main.rs\"")),
            "{example}"
        );
    }
    let cache = tempfile::tempdir().expect("a temporary directory should be had");
    let list = |words: &[&str]| {
        let mut list = tune(&workspace(), cache.path());
        stdout(&expect_code(list.arg("list").args(words), 0))
    };
    let of_course = |text: &str| text.matches("(kiln-examples)").count();
    let plain = list(&[]);
    assert!(plain.contains("(kiln-kernels)"), "{plain}");
    assert_eq!(of_course(&plain), 0, "{plain}");
    let course = list(&["--features", "course"]);
    assert_eq!(of_course(&course), examples().len(), "{course}");
}

#[test]
fn the_rows_of_other_devices_in_the_course_are_those_of_its_kernel() {
    let kernel = tables::kernel(&folder().join("Cargo.toml"), "row_norms", &["course"]);
    let device = |backend, arch: &str, name: &str| DeviceKey {
        backend,
        arch: arch.into(),
        name: name.into(),
    };
    let rows = [
        (device(Backend::Cuda, "sm_89", "NVIDIA L4"), "THREADS=384"),
        (
            device(Backend::Hip, "gfx1151", "Radeon 8060S"),
            "THREADS=256",
        ),
    ];
    let table = tables::unmeasured(&kernel, &rows).to_text();
    let made = target_dir().join("kiln/row_norms.toml");
    fs::create_dir_all(target_dir().join("kiln")).expect("a folder should be made");
    fs::write(&made, &table).expect("a file should be written");
    let committed = fs::read_to_string(folder().join("tuned/row_norms.toml")).unwrap_or_default();
    assert!(
        committed == table,
        "examples/tuned/row_norms.toml is not up to date\nhelp: copy {} there",
        made.display()
    );
    let index = Index::parse(text_of("tuned/index.toml").as_bytes());
    let index = index.expect("the index should be one that `tune` writes");
    assert_eq!(index.file("row_norms"), Some("row_norms.toml"));
    let cache = tempfile::tempdir().expect("a temporary directory should be had");
    let mut check = tune(&workspace(), cache.path());
    check.args(["bake", "--check", "--package", "kiln-examples"]);
    let checked = stdout(&expect_code(check.args(["--features", "course"]), 0));
    assert!(checked.ends_with("2 baked rows: up to date\n"), "{checked}");
}
