//! Checks that docs/adding-a-backend.md mentions every method of the traits, and only files that exist.

use std::fs;

use kiln_tests::command::workspace;

const PAGE: &str = include_str!("../../../docs/adding-a-backend.md");

/// The names of a trait's methods, read from its source.
fn methods(file: &str, name: &str) -> Vec<String> {
    let text = fs::read_to_string(workspace().join(file)).expect("the source should be there");
    let start = format!("pub trait {name}: ");
    let (_, body) = text.split_once(&start).expect("the trait should be there");
    let body = body.split("\n}").next().unwrap_or(body);
    let lines = body.lines().filter_map(|line| line.strip_prefix("    fn "));
    lines
        .filter_map(|line| Some(line.split_once('(')?.0.to_owned()))
        .collect()
}

#[test]
fn the_page_says_what_every_method_promises() {
    let traits = [
        ("runtime/src/compiler/mod.rs", "Compiler", "## `Compiler`\n"),
        (
            "runtime/src/device/mod.rs",
            "DeviceBackend",
            "## `DeviceBackend`\n",
        ),
        (
            "runtime/src/device/mod.rs",
            "Allocation",
            "### `Allocation`\n",
        ),
        ("runtime/src/device/mod.rs", "Module", "### `Module`\n"),
    ];
    for (file, name, heading) in traits {
        let (_, section) = PAGE.split_once(heading).expect("there is a section");
        let section = section.split("\n##").next().unwrap_or(section);
        let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
        let named: Vec<_> = rows.filter_map(|row| row.split('`').next()).collect();
        assert_eq!(named, methods(file, name), "{name}");
    }
}

#[test]
fn the_page_names_only_files_that_are_there() {
    let folders = [
        "spec/", "macros/", "runtime/", "kernels/", "tuner/", "tests/",
    ];
    let quoted = PAGE.split('`').skip(1).step_by(2);
    let paths: Vec<_> = quoted
        .filter(|text| folders.iter().any(|folder| text.starts_with(folder)))
        .filter(|text| !text.contains('<'))
        .collect();
    assert!(paths.len() > 20, "{paths:?}");
    for path in paths {
        assert!(workspace().join(path).exists(), "{path}");
    }
}
