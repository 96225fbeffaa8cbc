//! One subcommand a file.

mod bake;
mod bench;
mod cache;
mod compare;
mod definition;
mod devices;
mod export;
mod init;
mod inspect;
mod list;
mod replay;
mod report;
mod run;
mod sampled;
mod smoke;
mod space;
mod why;

use std::io::Write;
use std::process::ExitCode;

use kiln::Kernel;
use serde::Serialize;

use crate::cli::{Cli, Command};
use crate::exit::{DONE, FAILED, Failure};
use crate::worker::server;

/// Runs the subcommand.
pub fn dispatch(cli: Cli, catalogue: &'static [&'static Kernel]) -> Result<ExitCode, Failure> {
    match cli.command {
        None => run::run(&cli.run, catalogue),
        Some(Command::Run(args)) => run::run(&args, catalogue),
        Some(Command::Init(args)) => init::run(&args),
        Some(Command::Devices(args)) => devices::run(&args),
        Some(Command::List(args)) => list::run(&args),
        Some(Command::Space(args)) => space::run(&args),
        Some(Command::Inspect(args)) => inspect::run(&args),
        Some(Command::Bake(args)) => bake::run(&args),
        Some(Command::Smoke(args)) => smoke::run(&args, catalogue),
        Some(Command::Bench(args)) => bench::run(&args, catalogue),
        Some(Command::Compare(args)) => compare::run(&args, catalogue),
        Some(Command::Why(args)) => why::run(&args),
        Some(Command::Cache(args)) => cache::run(&args.action),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Replay(args)) => replay::run(&args),
        Some(Command::Export(args)) => export::run(&args),
        Some(Command::Worker) => Ok(server::serve(catalogue)),
        Some(Command::ProbeStore { path }) => Ok(ExitCode::from(
            u8::try_from(kiln_cache::probe::run(&path)).unwrap_or(FAILED),
        )),
    }
}

/// Prints text on standard output. A closed pipe ends the program quietly, as it does other tools; any other
/// failure, such as a full disk, ends it with an error: what it found would be lost unnoticed.
fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) else {
        return;
    };
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        std::process::exit(i32::from(DONE));
    }
    let _ = writeln!(
        std::io::stderr(),
        "error: cannot write to standard output: {error}\nhelp: what was measured is stored; run the command again"
    );
    std::process::exit(i32::from(FAILED));
}

/// Prints a value as one JSON object.
fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::Other(format!("cannot print JSON: {error}")))?;
    print(&(text + "\n"));
    Ok(())
}

/// The exit code of a command that checked something.
fn checked(passed: bool) -> ExitCode {
    ExitCode::from(if passed { DONE } else { FAILED })
}
