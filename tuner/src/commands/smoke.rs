use std::process::ExitCode; use crate::exit::Failure;
pub(super) fn run(_: &crate::cli::SmokeArgs, _: &'static [&'static kiln::Kernel]) -> Result<ExitCode, Failure> { Ok(ExitCode::SUCCESS) }
