//! Writes to standard output, and maps results of commands to exit codes.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;

use kiln_spec::Backend;
use serde::Serialize;

use crate::cli::PackageArgs;
use crate::error::{DONE, FAILED, Failure};
use kiln_project::{HiddenKernel, Project};

/// Prints text on standard output. If the pipe is closed, the program ends without an error, as other tools do. Any
/// other failure, such as a full disk, ends the program with an error, because the results would otherwise be lost
/// without notice.
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

/// Reads the kernels that the flags select. Prints notes about kernels that are excluded by disabled features, and
/// warnings about kernels that cannot be read, on standard error.
///
/// # Errors
/// The errors of [`Project::read`].
pub(super) fn read_project(args: &PackageArgs) -> Result<Project, Failure> {
    let project = read_project_to_run(args)?;
    say_left_out(args, &project);
    Ok(project)
}

/// Like [`read_project`], without the notes about disabled features. A command that runs for minutes prints them at its
/// end.
///
/// # Errors
/// The errors of [`Project::read`].
pub(super) fn read_project_to_run(args: &PackageArgs) -> Result<Project, Failure> {
    let project = Project::read(&args.selection())?;
    for wrong in &project.wrong {
        let first = wrong.lines().next().unwrap_or_default();
        say(&format!("warning: another kernel is wrong: {first}\n"));
    }
    if !project.wrong.is_empty() {
        say("help: `tune list` prints these errors in full\n");
    }
    Ok(project)
}

/// Prints the notes about kernels that are excluded by disabled features, unless the flags name kernels.
pub(super) fn say_left_out(args: &PackageArgs, project: &Project) {
    if args.kernels.is_empty() {
        say(&left_out(&project.hidden));
    }
}

/// Reports the kernels that do not support a target on standard error, because the table has no line for them.
pub(super) fn say_unsupported(project: &Project, arch: &str, backend: Backend) {
    for kernel in &project.kernels {
        if let Some(why) = kernel.spec.left_out_on(backend) {
            let name = &kernel.spec.name;
            say(&format!("{name}: left out for {arch}: {why}\n"));
        }
    }
}

fn say(text: &str) {
    // A closed standard error must not end a command.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// One line for each disabled feature that excludes kernels.
fn left_out(hidden: &[HiddenKernel]) -> String {
    let mut by_feature: BTreeMap<&str, Vec<&HiddenKernel>> = BTreeMap::new();
    for kernel in hidden {
        by_feature
            .entry(kernel.features())
            .or_default()
            .push(kernel);
    }
    let line = |(features, kernels): (&str, Vec<&HiddenKernel>)| match kernels[..] {
        [kernel] => {
            format!("note: left out: {kernel}; `--features {features}` brings it in\n")
        }
        _ => {
            let names: Vec<String> = kernels
                .iter()
                .map(|one| format!("`{}`", one.name))
                .collect();
            let names = names.join(", ");
            format!(
                "note: left out: {} kernels behind features that are off ({names}); `--features {features}` brings them in\n",
                kernels.len()
            )
        }
    };
    by_feature.into_iter().map(line).collect()
}

/// The command line as it would be typed in a shell, with the program name `tune`.
pub(super) fn command_line() -> String {
    let words = std::env::args_os().skip(1).map(|word| {
        let word = word.to_string_lossy().into_owned();
        let plain = |char: char| char.is_alphanumeric() || "-_=.,:/@%+".contains(char);
        if !word.is_empty() && word.chars().all(plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    });
    std::iter::once("tune".to_owned())
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
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

/// The exit code of a command that passed or failed.
pub(super) fn checked(passed: bool) -> ExitCode {
    ExitCode::from(if passed { DONE } else { FAILED })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(name: &str, feature: &str) -> HiddenKernel {
        HiddenKernel {
            name: name.into(),
            package: "p".into(),
            file: "src/a.rs".into(),
            feature: Some(feature.into()),
        }
    }

    #[test]
    fn the_kernels_of_a_feature_are_left_out_in_one_line() {
        let one = left_out(&[hidden("a", "gpu")]);
        assert_eq!(
            one,
            "note: left out: `a` is behind the feature `gpu` (src/a.rs); `--features gpu` brings it in\n"
        );
        let several = left_out(&[hidden("a", "x"), hidden("b", "gpu"), hidden("c", "x")]);
        assert_eq!(several.lines().count(), 2);
        assert!(several.ends_with(
            "2 kernels behind features that are off (`a`, `c`); `--features x` brings them in\n"
        ));
    }
}
