//! The library of the `tune` command: searches, verifies, races, confirms and bakes configs.
//!
//! [`main`] takes a catalogue of the kernels whose plain-Rust references are linked into the program. With it, the
//! program can compare outputs with these references. A crate can have its own `tune` in three lines:
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     kiln_tuner::main(kiln_kernels::catalogue())
//! }
//! ```
//!
//! The main flow is in [`run::pipeline`]. Read it first.
#![forbid(unsafe_code)]

pub mod cli;
mod columns;
mod commands;
pub mod compile_only;
pub mod error;
pub mod fleet;
mod in_order;
mod own;
pub mod predict;
pub mod progress;
pub mod replay;
pub mod run;
pub mod smoke;
pub mod space;
pub mod tables;
pub mod task;
pub mod watch;

use std::process::ExitCode;

use clap::Parser;
pub use kiln::Kernel;

use crate::cli::Cli;

/// Runs the command line of this process. `catalogue` contains the kernels whose plain-Rust references are linked in.
pub fn main(catalogue: &'static [&'static Kernel]) -> ExitCode {
    // By default, SIGXFSZ ends the process if a file would exceed the size limit. With a handler, the write fails with
    // an error that names the file, as on a full disk. If the handler cannot be installed, the default remains.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
    // If the program is installed as `cargo-tune`, `cargo tune` passes `tune` as the first argument.
    let mut words: Vec<_> = std::env::args_os().collect();
    let is_cargo = words.first().is_some_and(|program| {
        std::path::Path::new(program)
            .file_stem()
            .is_some_and(|stem| stem == "cargo-tune")
    });
    if is_cargo && words.get(1).is_some_and(|word| word == "tune") {
        words.remove(1);
    }
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => {
            // A closed pipe must not cause a panic when help is printed.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() {
                error::USAGE
            } else {
                error::DONE
            });
        }
    };
    if let Err(error) = kiln::compiler::deadline_of_user() {
        eprintln!("error: {error}");
        return ExitCode::from(error::FAILED);
    }
    match commands::dispatch(cli, catalogue) {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(failure.code())
        }
    }
}
