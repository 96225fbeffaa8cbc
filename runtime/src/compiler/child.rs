//! Runs a compiler as a child process with limits on its time and memory, and collects its output.

use std::ffi::OsStr;
use std::io::{self, Read as _};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::compiler::CompileLimits;
use crate::supervise::{Ended, Patience, Supervised, Watched};

/// Maximum size of the collected output, in bytes. A compiler's messages about templates can be extremely long.
const LOG_BYTES: usize = 1 << 20;

/// Processor time beyond the deadline, in seconds. This limit must not be reached before the deadline, because a driver
/// would report only that its compiler was killed. It exists in case this process ends before it can kill the compiler.
const SPARE_CPU_SECONDS: u64 = 10;

/// The longest time in which a process that closed its output ends.
const MAX_EXIT: Duration = Duration::from_secs(60);

/// Runs a command until it ends or exceeds a limit. Returns how it ended, and its standard output and standard error
/// together.
///
/// The limits apply to the command and all its children. A shell sets the limits before it executes the command, so
/// no unsafe code is needed between fork and exec.
pub(crate) fn run_limited(
    command: &Command,
    limits: &CompileLimits,
) -> io::Result<(Ended, String)> {
    let (mut reader, writer) = io::pipe()?;
    let mut shell = limited(command, limits);
    shell.stdout(writer.try_clone()?).stderr(writer);
    let mut group = Supervised::spawn(&mut shell)?;
    // This process must close its end of the pipe, or the output would never end.
    drop(shell);
    let (send, receive) = mpsc::channel();
    let reading = thread::Builder::new().spawn(move || {
        let mut log = Vec::new();
        let mut chunk = [0; 16384];
        while let Ok(n @ 1..) = reader.read(&mut chunk) {
            log.extend_from_slice(&chunk[..n.min(LOG_BYTES.saturating_sub(log.len()))]);
        }
        let _ = send.send(());
        log
    })?;
    // The output ends when the last process of the group has closed the pipe.
    let watched = Watched::Group(group.id());
    let ended = match Patience::begin(watched, limits.deadline, limits.until).receive(&receive) {
        Err(RecvTimeoutError::Timeout) => {
            group.kill()?;
            Ended::TimedOut
        }
        _ => group.end_by(Instant::now() + MAX_EXIT)?,
    };
    let log = reading.join().unwrap_or_default();
    Ok((ended, String::from_utf8_lossy(&log).into_owned()))
}

/// A shell command that sets the limits and then executes `command`.
fn limited(command: &Command, limits: &CompileLimits) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell
        .arg("-c")
        // A lower limit that is already in force stays: a process cannot raise it.
        .arg("ulimit -c 0; ulimit -v \"$1\" 2>/dev/null; ulimit -t \"$2\" 2>/dev/null; shift 2; exec \"$@\"")
        .arg("kiln")
        .arg((limits.memory_bytes >> 10).to_string())
        .arg((limits.deadline.as_secs() + SPARE_CPU_SECONDS).to_string())
        .arg(command.get_program())
        .args(command.get_args())
        .stdin(Stdio::null());
    // A sanitizer that is preloaded into this process is not meant for the compiler, and would make the compiler exceed
    // its memory limit.
    shell.env_remove("LD_PRELOAD");
    copy_environment(command, &mut shell);
    if let Some(folder) = command.get_current_dir() {
        shell.current_dir(folder);
    }
    shell
}

fn copy_environment(from: &Command, to: &mut Command) {
    for (name, value) in from.get_envs() {
        match value {
            Some(value) => to.env(name, value),
            None => to.env_remove(name),
        };
    }
}

/// The output of a program that ends within a few seconds; `None` if the program cannot be run or takes longer.
pub(crate) fn output_of(program: &OsStr, args: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(args).env("LC_ALL", "C");
    let limits = CompileLimits {
        deadline: Duration::from_secs(10),
        ..CompileLimits::default()
    };
    let (ended, text) = run_limited(&command, &limits).ok()?;
    ended.succeeded().then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(deadline_ms: u64) -> CompileLimits {
        CompileLimits {
            deadline: Duration::from_millis(deadline_ms),
            memory_bytes: 1 << 30,
            until: None,
        }
    }

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn both_streams_are_kept_and_the_exit_is_told() {
        let script = "echo one; echo two >&2; exit 3";
        let (ended, log) = run_limited(&shell(script), &limits(120_000)).unwrap();
        assert_eq!(log, "one\ntwo\n");
        assert!(matches!(ended, Ended::Exited(status) if status.code() == Some(3)));
    }

    #[test]
    fn a_process_is_killed_at_its_deadline_with_its_children() {
        let marker = tempfile::tempdir().unwrap();
        // On a busy machine, the shell may not have started before a short deadline.
        let begun = [300, 3_000, 30_000].into_iter().find(|&deadline_ms| {
            let late = Duration::from_millis(deadline_ms + 1_500);
            let script = format!(
                "(sleep {}; touch {}/late) & echo begun; wait",
                late.as_secs_f64(),
                marker.path().display()
            );
            let start = Instant::now();
            let (ended, log) = run_limited(&shell(&script), &limits(deadline_ms)).unwrap();
            assert!(matches!(ended, Ended::TimedOut));
            // If only the shell had been killed, the child would still run and write its file.
            let end = late + Duration::from_secs(1);
            thread::sleep(end.saturating_sub(start.elapsed()));
            assert!(!marker.path().join("late").exists());
            log == "begun\n"
        });
        assert!(begun.is_some(), "the shell never began");
    }

    #[test]
    fn the_limits_reach_the_command_and_its_environment_does_too() {
        let mut command = shell("ulimit -v; ulimit -c; echo $WORD");
        command.env("WORD", "word");
        let (ended, log) = run_limited(&command, &limits(120_000)).unwrap();
        assert!(ended.succeeded());
        assert_eq!(log, "1048576\n0\nword\n");
    }

    #[test]
    fn endless_output_is_cut() {
        let (ended, log) = run_limited(&shell("yes | head -c 3000000"), &limits(120_000)).unwrap();
        assert!(ended.succeeded());
        assert_eq!(log.len(), LOG_BYTES);
    }
}
