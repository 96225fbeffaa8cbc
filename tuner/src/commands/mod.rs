//! The subcommands of `tune`, with one file per subcommand.

mod bake;
mod bake_check;
mod bench;
mod cache;
mod compare;
mod definition;
mod devices;
mod export;
mod fleet;
mod init;
mod inspect;
mod inspect_profile;
mod list;
mod output;
mod replay;
mod report;
mod run;
mod smoke;
mod space;
mod why;

use std::process::ExitCode;

use kiln::Kernel;

use crate::cli::{Cli, Command};
use crate::error::{FAILED, Failure};
use kiln_lab::worker::server;

/// Runs the subcommand that the command line specifies.
pub fn dispatch(cli: Cli, catalogue: &'static [&'static Kernel]) -> Result<ExitCode, Failure> {
    match cli.command {
        None => run::run(&cli.run, catalogue),
        Some(Command::Run(args)) => run::run(&args, catalogue),
        Some(Command::Init(args)) => init::run(&args),
        Some(Command::Devices(args)) => devices::run(&args),
        Some(Command::List(args)) => list::run(&args),
        Some(Command::Space(args)) => space::run(&args),
        Some(Command::Inspect(args)) => inspect::run(&args),
        Some(Command::Bake(args)) => bake::run(&args, catalogue),
        Some(Command::Smoke(args)) => smoke::run(&args, catalogue),
        Some(Command::Bench(args)) => bench::run(&args, catalogue),
        Some(Command::Compare(args)) => compare::run(&args, catalogue),
        Some(Command::Why(args)) => why::run(&args),
        Some(Command::Cache(args)) => cache::run(&args.action),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Replay(args)) => replay::run(&args),
        Some(Command::Export(args)) => export::run(&args),
        Some(Command::Fleet(args)) => fleet::run(args.action, catalogue),
        Some(Command::Worker) => Ok(server::serve(catalogue)),
        Some(Command::ProbeStore { path }) => Ok(ExitCode::from(
            u8::try_from(kiln_cache::probe::run(&path)).unwrap_or(FAILED),
        )),
    }
}
