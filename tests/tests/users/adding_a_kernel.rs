//! Follows docs/adding-a-kernel.md: writes the files on the page to a new crate, runs the commands, and compares the
//! output with the page.

use std::process::Command;

use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stderr, stdout, tune};
use kiln_tests::console::{files, promises};
use kiln_tests::throwaway::Throwaway;

const PAGE: &str = include_str!("../../../docs/adding-a-kernel.md");

/// A command of the page, as a user types it in the crate.
fn command_of(crate_: &Throwaway, line: &str) -> Command {
    let mut words: Vec<&str> = line.split(' ').collect();
    let variable = words[0].split_once('=');
    if variable.is_some() {
        words.remove(0);
    }
    let mut command = match words[0] {
        "tune" => tune(crate_.path(), &crate_.path().join("cache")),
        "cargo" => crate_.cargo(),
        _ => panic!("`{line}` is neither cargo nor tune"),
    };
    command.args(&words[1..]);
    if let Some((name, value)) = variable {
        command.env(name, value);
    }
    command
}

/// A crate with the files of the page. Its manifest uses the packages of this workspace instead of published ones.
fn crate_of_the_page() -> Throwaway {
    let files = files(PAGE);
    let mut sources: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let manifest = sources.remove(0);
    assert_eq!(manifest.0, "Cargo.toml");
    let crate_ = Throwaway::new("my-kernels", &sources);
    let written = crate_.read("Cargo.toml");
    let lines = manifest.1.lines();
    for line in lines.filter(|line| !line.starts_with("version = ")) {
        let there = written.lines().any(|other| other == line);
        assert!(
            there,
            "the page says {line:?}, but the crate has\n{written}"
        );
    }
    crate_
}

#[test]
fn the_kernel_of_the_page_is_tuned_and_smoke_tested_as_written() {
    let name = "the_kernel_of_the_page_is_tuned_and_smoke_tested_as_written";
    if !have(name, &[Need::HostCompiler]) {
        return;
    }
    let crate_ = crate_of_the_page();
    let promises = promises(PAGE);
    assert_eq!(promises.len(), 7, "{promises:?}");
    for promise in &promises {
        println!("$ {}", promise.command);
        let output = expect_code(&mut command_of(&crate_, &promise.command), 0);
        if let Err(differs) = promise.check(&stdout(&output)) {
            panic!("{differs}\n--- stderr\n{}", stderr(&output));
        }
    }
    let mut written: Vec<_> = std::fs::read_dir(crate_.path().join("tuned"))
        .expect("the tables should be there")
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .collect();
    written.sort();
    assert_eq!(written, [".gitattributes", "index.toml", "rms_norm.toml"]);
}
