//! Runs commands. Each command is printed before it runs, and a failed command is an error.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The root folder of the workspace.
pub fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().map(PathBuf::from).unwrap_or(here)
}

/// Whether `CI=true` is set. A missing tool is an error in CI.
pub fn in_ci() -> bool {
    std::env::var("CI").as_deref() == Ok("true")
}

/// Whether cargo must not use the network.
static OFFLINE: AtomicBool = AtomicBool::new(false);

/// Forbids all later cargo commands to use the network.
pub fn go_offline() {
    OFFLINE.store(true, Ordering::Relaxed);
}

/// A cargo command that runs in the root folder of the workspace.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    if OFFLINE.load(Ordering::Relaxed) {
        command.env("CARGO_NET_OFFLINE", "true");
    }
    command
}

/// Runs a command until it ends.
///
/// # Errors
/// If the command cannot be started, or if its exit code is not 0.
pub fn run(title: &str, command: &mut Command) -> Result<(), String> {
    eprintln!("xtask: {title}: {}", words(command));
    let start = Instant::now();
    let status = command
        .status()
        .map_err(|error| format!("{title}: cannot start: {error}"))?;
    if !status.success() {
        return Err(format!("{title}: {status}"));
    }
    eprintln!(
        "xtask: {title}: done in {:.1} s",
        start.elapsed().as_secs_f64()
    );
    Ok(())
}

/// Whether the command `<program> --version` succeeds.
pub fn there(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
}

fn words(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let program = program
        .file_name()
        .unwrap_or(program.as_os_str())
        .to_string_lossy()
        .into_owned();
    let arguments = command
        .get_args()
        .map(|word| word.to_string_lossy().into_owned());
    std::iter::once(program)
        .chain(arguments)
        .collect::<Vec<_>>()
        .join(" ")
}
