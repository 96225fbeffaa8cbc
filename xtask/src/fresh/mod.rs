//! `cargo xtask fresh`: runs the two commands of the README on a machine that has only the README's requirements.
//!
//! The machine is a minimal Debian in a folder. Commands enter it with `chroot` in separate namespaces, so its mounts
//! and processes end with each command, even if the command is killed.

mod commands;
mod host;
mod machine;
mod options;

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use machine::Machine;
pub use options::Options;

use crate::step;

/// Creates the machine, runs the commands in it, and removes it.
///
/// # Errors
/// If the machine cannot be created, or if a command fails in it.
pub fn run(options: &Options) -> Result<(), String> {
    let stopped = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stopped))
            .map_err(|error| format!("fresh: cannot watch for Ctrl-C: {error}"))?;
    }
    let tool = host::bootstrap_tool()?;
    let commands = commands::of_readme(options.only)?;
    let machine = Machine::new(options)?;
    let log = options.folder.join("fresh.log");
    let run = Run {
        log: File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?,
        stopped,
    };
    warn_of_changes();
    let result = run
        .stage("a minimal Debian", &mut machine.bootstrap(tool))
        .and_then(|()| machine.furnish())
        .and_then(|()| run.all(&machine, &commands));
    let result = match options.keep {
        true => {
            eprintln!("xtask: fresh: kept {}", machine.root().display());
            result
        }
        false => result.and(machine.remove()),
    };
    eprintln!("xtask: fresh: the log is {}", log.display());
    result
}

/// Warns if there are uncommitted changes, because they are not tested.
fn warn_of_changes() {
    let mut status = Command::new("git");
    status
        .args(["status", "--porcelain"])
        .current_dir(step::root());
    let changed = status
        .output()
        .is_ok_and(|output| !output.stdout.is_empty());
    if changed {
        eprintln!("xtask: fresh: uncommitted changes are left out: the clone is of HEAD");
    }
}

/// Runs commands, and prints and logs their output.
struct Run {
    log: File,
    stopped: Arc<AtomicBool>,
}

impl Run {
    fn all(&self, machine: &Machine, commands: &[String]) -> Result<(), String> {
        for command in commands {
            self.stage(command, &mut machine.command(command))?;
        }
        // The commands must not leave files that git would show as new.
        self.stage("a clean tree", &mut machine.command(CLEAN_TREE))
    }

    /// Runs one command until it ends or the user presses Ctrl-C.
    fn stage(&self, title: &str, command: &mut Command) -> Result<(), String> {
        self.say(&format!("xtask: fresh: {title}"));
        let start = Instant::now();
        let status = self.shown(command);
        if self.stopped.load(Ordering::Relaxed) {
            return Err(format!("fresh: {title}: stopped"));
        }
        let status = status.map_err(|error| format!("fresh: {title}: {error}"))?;
        let seconds = start.elapsed().as_secs();
        if !status.success() {
            return Err(format!("fresh: {title}: {status} after {seconds} s"));
        }
        self.say(&format!("xtask: fresh: {title}: passed in {seconds} s"));
        Ok(())
    }

    /// Prints and logs the output of a command until the command ends or is stopped.
    fn shown(&self, command: &mut Command) -> std::io::Result<ExitStatus> {
        let (from, to) = std::io::pipe()?;
        command.stdin(Stdio::null());
        command.stdout(to.try_clone()?).stderr(to);
        let mut child = command.spawn()?;
        // The reader reaches the end of the output only when all write ends of the pipe are closed, and `command` still
        // has two.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let lines = BufReader::new(from).split(b'\n').map_while(Result::ok);
                lines.for_each(|line| self.say(String::from_utf8_lossy(&line).trim_end()));
            });
            loop {
                if let Some(status) = child.try_wait()? {
                    return Ok(status);
                }
                if self.stopped.load(Ordering::Relaxed) {
                    child.kill()?;
                }
                std::thread::sleep(STEP);
            }
        })
    }

    fn say(&self, line: &str) {
        println!("{line}");
        // An error is ignored here. If the disk is full, the commands themselves fail.
        let _ = writeln!(&self.log, "{line}");
    }
}

/// Interval at which Ctrl-C is checked.
const STEP: Duration = Duration::from_millis(100);

const CLEAN_TREE: &str = "test -z \"$(git status --porcelain)\" || { git status --short; exit 1; }";

/// Creates a folder and its parents.
fn make(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("fresh: {}: {error}", folder.display()))
}
