//! The tasks of the project. For example, `cargo xtask test` runs all tests, and `cargo xtask bars [N]` measures the
//! acceptance criteria in full.
#![forbid(unsafe_code)]

mod bars;
mod buckets;
mod check;
mod fresh;
mod fuzz;
mod gpu_day;
mod mutants;
mod prose;
mod rings;
mod setup;
mod step;
mod suite;
mod toolchains;

use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask <TASK>

Tasks:
  test        install what the tests need, then run all tests
              [--no-install]: tests that need what is missing are skipped and counted
              [--offline]: the same, and cargo asks nothing of the network
  bars [N]    run the bars of docs/bars.md in full (all, or number N)
  fresh       run the README's two commands on a fresh Debian in a folder; needs root and mmdebstrap
              [--only tune|test] [--compiler g++|clang] [--debian bookworm|trixie|forky] [--keep] [--dir FOLDER]
  gpu-day     build a folder that proves, times and tunes the kernels on a machine with a GPU and without Rust (docs/gpu-day.md)
              [--out DIR] [--profile NAME] [--without-cublas]; --import FILE brings its results back [--into DIR];
              --compare FILE compares its outputs with those of a simulated GPU
  mutants     break one line of the product after the other, in a copy, and run the test that must fail (docs/bars.md, 44)
              [--list] prints them; [--alone]: a build for each; [NAME..]: those whose name or file has one of the words
  setup       only install what the tests need
  check       formatting, lints, docs and layout; CI runs it before the tests";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["test"] => setup::run_beside(suite::build).and_then(|()| suite::test()),
        ["test", "--no-install"] => suite::run(),
        ["test", "--offline"] => {
            step::go_offline();
            suite::run()
        }
        ["bars"] => setup::run().and_then(|()| bars::run(None)),
        ["bars", number] => match number.parse() {
            Ok(number) => setup::run().and_then(|()| bars::run(Some(number))),
            Err(_) => return usage(&format!("`{number}` is not a bar number")),
        },
        ["fresh", options @ ..] => match fresh::Options::parse(options) {
            Ok(options) => fresh::run(&options),
            Err(problem) => return usage(&problem),
        },
        ["gpu-day", options @ ..] => match gpu_day::Options::parse(options) {
            Ok(options) => gpu_day::run(&options),
            Err(problem) => return usage(&problem),
        },
        ["mutants", options @ ..] => match mutants::Options::parse(options) {
            Ok(options) => mutants::run(&options),
            Err(problem) => return usage(&problem),
        },
        ["setup"] => setup::run(),
        ["check"] => check::run(),
        [] | ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        other => return usage(&format!("unknown task `{}`", other.join(" "))),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn usage(problem: &str) -> ExitCode {
    eprintln!("xtask: {problem}\n\n{USAGE}");
    ExitCode::from(2)
}
