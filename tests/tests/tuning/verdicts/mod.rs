//! The messages and the stored outcomes of wrong kernels: the kind of the mistake, its position, and the help.

mod fates;
mod repros;

use std::path::Path;
use std::process::Command;

use kiln_tests::command::{expect_code, stdout, tune};
use serde_json::Value;
use tempfile::TempDir;

const MANIFEST: &str =
    "[package]\nname = \"wrong\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";

/// A package with these files in `src/`.
fn package(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary directory should be had");
    let src = folder.path().join("src");
    std::fs::create_dir(&src).expect("a folder should be made");
    std::fs::write(folder.path().join("Cargo.toml"), MANIFEST).expect("a file should be written");
    for (name, text) in files {
        std::fs::write(src.join(name), text).expect("a file should be written");
    }
    folder
}

/// The command `tune` in a package, with a cache in the package.
fn tune_in(root: &Path, words: &str) -> Command {
    let mut command = tune(root, &root.join("cache"));
    command.args(words.split(' '));
    command
}

fn json(command: &mut Command, code: i32) -> Value {
    let text = stdout(&expect_code(command, code));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The outcomes of all trials in the cache, with their configs.
fn outcomes(root: &Path) -> Vec<(String, Value)> {
    fn collect(value: &Value, found: &mut Vec<(String, Value)>) {
        match value {
            Value::Object(object) if object.contains_key("outcome") => {
                let config = object["config"].as_str().unwrap_or_default().to_owned();
                found.push((config, object["outcome"].clone()));
            }
            Value::Object(object) => object.values().for_each(|value| collect(value, found)),
            Value::Array(values) => values.iter().for_each(|value| collect(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(&json(&mut tune_in(root, "cache export"), 0), &mut found);
    found
}
