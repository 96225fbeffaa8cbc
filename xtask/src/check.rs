//! Checks formatting, lints and documentation, and the rules for source files and wording.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::prose;
use crate::rings;
use crate::step::{self, cargo};
use crate::suite::PROFILE;

/// Maximum length of a Rust file of the product, in lines.
const MAX_LINES: usize = 500;

/// Maximum length of any other source file, in lines.
const MAX_LINES_OF_OTHERS: usize = 700;

/// The source folders that are checked for rings of files that import each other.
const CRATES: [&str; 15] = [
    "cache/src",
    "exchange/src",
    "fleet/src",
    "kernels/src",
    "lab/src",
    "macros/src",
    "measure/src",
    "project/src",
    "report/src",
    "runtime/src",
    "search/src",
    "sim/src",
    "spec/src",
    "tuner/src",
    "xtask/src",
];

/// The cargo options that enable the adapters for other libraries, in the versions that the examples use.
const ADAPTERS: [&str; 2] = ["--features", "kiln-examples/cudarc"];

/// Runs commands one after another.
///
/// # Errors
/// If a command fails. The commands after it do not run.
fn run_all(steps: &mut [(&str, Command)]) -> Result<(), String> {
    steps
        .iter_mut()
        .try_for_each(|(title, command)| step::run(title, command))
}

/// Runs every check that is not a test.
///
/// # Errors
/// If a check fails. The checks after it do not run.
pub fn run() -> Result<(), String> {
    let mut docs = cargo(&["doc", "--workspace", "--no-deps", "--quiet"]);
    docs.args(["--profile", PROFILE]).args(ADAPTERS);
    docs.env("RUSTDOCFLAGS", "-D warnings");
    let mut lints = cargo(&["clippy", "--workspace", "--all-targets", "--quiet"]);
    lints.args(["--profile", PROFILE]).args(ADAPTERS);
    lints.args(["--", "-D", "warnings"]);
    // The tests build the course together with the whole workspace and its features, but users build the course alone.
    let mut course = cargo(&[
        "check",
        "--package",
        "kiln-examples",
        "--examples",
        "--quiet",
    ]);
    course.args(["--profile", PROFILE]);
    run_all(&mut [
        ("formatting", cargo(&["fmt", "--all", "--check"])),
        ("lints", lints),
        ("the course by itself", course),
        ("documentation", docs),
    ])?;
    layout(&step::root())
}

/// Checks the length and names of files, the use of `unsafe`, wording, and imports in a ring.
fn layout(root: &Path) -> Result<(), String> {
    let tracked = tracked(root)?;
    let mut problems = ring_problems(root, &tracked)?;
    for file in tracked {
        let Ok(text) = fs::read_to_string(root.join(&file)) else {
            continue;
        };
        let code = [".rs", ".cu", ".cuh", ".h"]
            .iter()
            .any(|ending| file.ends_with(ending));
        let (lines, most) = (text.lines().count(), max_lines(&file));
        if code && lines > most {
            problems.push(format!("{file}: {lines} lines, but the maximum is {most}"));
        }
        if (code || file.ends_with(".md")) && !quotes_wording(&file) {
            for (i, line) in text.lines().enumerate() {
                problems.extend(prose::found(line).into_iter().map(|(phrase, instead)| {
                    format!(
                        "{file}:{}: `{phrase}`: write `{instead}` (docs/style.md)",
                        i + 1
                    )
                }));
            }
        }
        let name = file.rsplit('/').next().unwrap_or(&file);
        if [
            "util.rs",
            "utils.rs",
            "helper.rs",
            "helpers.rs",
            "misc.rs",
            "common.rs",
        ]
        .contains(&name)
        {
            problems.push(format!(
                "{file}: the name says nothing about the file's content"
            ));
        }
        if file.ends_with(".rs") && !unsafe_allowed(&file) {
            let stray = text
                .lines()
                .enumerate()
                .filter(|(_, line)| has_unsafe(line, forms(&file)));
            problems.extend(
                stray.map(|(i, _)| {
                    format!("{file}:{}: `unsafe` is not allowed in this file", i + 1)
                }),
            );
        }
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(format!("layout:\n  {}", problems.join("\n  ")))
    }
}

/// One line per ring of files that import each other.
fn ring_problems(root: &Path, tracked: &[String]) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    for source in CRATES {
        let rings = rings::of_crate(root, source, tracked)?;
        problems.extend(
            rings
                .iter()
                .map(|ring| format!("{source}: these files import each other: {ring}")),
        );
    }
    Ok(problems)
}

/// Maximum length of a source file, in lines.
fn max_lines(file: &str) -> usize {
    let is_test = file
        .split('/')
        .any(|part| matches!(part, "tests" | "tests.rs"));
    let is_test = is_test || file.ends_with("_tests.rs");
    match file.ends_with(".rs") && !is_test {
        true => MAX_LINES,
        false => MAX_LINES_OF_OTHERS,
    }
}

/// Whether a file may contain wording that docs/style.md rules out, because the file quotes this wording.
fn quotes_wording(file: &str) -> bool {
    ["docs/style.md", "xtask/src/prose.rs"].contains(&file)
}

fn unsafe_allowed(file: &str) -> bool {
    let backend = file
        .strip_prefix("runtime/src/backend/")
        .and_then(|rest| rest.split_once('/'));
    file == "runtime/src/launch/mod.rs"
        || backend.is_some_and(|(_, file)| file == "ffi.rs" || file.starts_with("ffi/"))
        // A library for tests that has the interface of AMD's HIP runtime.
        || file.starts_with("tests/hip-host/")
        // Tests that launch kernels on devices directly, and tests that count allocations.
        || file.starts_with("runtime/tests/")
        // Tests that act as another library and are responsible for its memory.
        || ["tests/tests/devices/cuda_device/graphs.rs", "tests/tests/devices/hip_device.rs"].contains(&file)
        // Programs that call the HIP runtime and cuBLAS directly.
        || ["examples/interop/hip.rs", "benches/peers/cublas/src/ffi.rs"].contains(&file)
        || file.starts_with("xtask/")
}

/// The forms of `unsafe` that a file must not contain: blocks, implementations and functions. Files that accept memory
/// and streams of other libraries may declare `unsafe` functions, because only the callers of these functions can vouch
/// for the memory.
fn forms(file: &str) -> &'static [&'static str] {
    const ALL: [&str; 3] = ["unsafe {", "unsafe impl", "unsafe fn"];
    match file.starts_with("runtime/src/interop/") {
        true => &ALL[..2],
        false => &ALL,
    }
}

/// Whether a line contains one of these forms. The `unsafe extern "C"` of a kernel declaration is not one of them,
/// because it is a promise of the kernel's author to the macro.
fn has_unsafe(line: &str, forms: &[&str]) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    forms.iter().any(|form| {
        code.find(form).is_some_and(|at| {
            !code[..at].ends_with(|c: char| c.is_alphanumeric() || "_\"`".contains(c))
        })
    })
}

fn tracked(root: &Path) -> Result<Vec<String>, String> {
    let output = Command::new("git")
        .args(["ls-files"])
        .current_dir(root)
        .output();
    let output = output.map_err(|error| format!("layout: cannot run git: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(str::to_owned)
        .collect())
}
