//! Standard output and exit codes of commands.

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;

use crate::cli::PackageArgs;
use crate::error::{DONE, FAILED, Failure};
use crate::project::Project;

/// Prints text on standard output. If the pipe is closed, the program ends quietly, as other tools do. Any other
/// failure, such as a full disk, ends it with an error: otherwise its results would be lost unnoticed.
pub(super) fn print(text: &str) {
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

/// Reads the kernels that the flags select, and reports on standard error the kernels that they leave out.
///
/// # Errors
/// Those of [`Project::read`].
pub(super) fn read_project(args: &PackageArgs) -> Result<Project, Failure> {
    let project = Project::read(&args.selection())?;
    let mut said = String::new();
    if args.kernels.is_empty() {
        for hidden in &project.hidden {
            said += &format!(
                "note: left out: {hidden}; `--features {}` brings it in\n",
                hidden.features()
            );
        }
    }
    for wrong in &project.wrong {
        said += &format!("warning: another kernel is wrong: {wrong}\n");
    }
    // A closed standard error must not end a command.
    let _ = std::io::stderr().write_all(said.as_bytes());
    Ok(project)
}

/// Prints a value as one JSON object.
pub(super) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(Failure::json("print JSON"))?;
    print(&(text + "\n"));
    Ok(())
}

/// Prints a value as one line of JSON.
pub(super) fn print_json_line(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(value).map_err(Failure::json("print JSON"))?;
    print(&(text + "\n"));
    Ok(())
}

/// The exit code of a check.
pub(super) fn checked(passed: bool) -> ExitCode {
    ExitCode::from(if passed { DONE } else { FAILED })
}
