//! Child processes that are killed together with all their children, at a deadline or on drop.

mod patience;

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

pub(crate) use patience::thread_cpu_ns;
pub use patience::{Patience, Watched};

/// Default time limit within which a killed process must end; [`Supervised::with_reap`] changes it. A GPU's driver may
/// keep a killed process alive until its running kernel ends or the watchdog resets the device.
const MAX_REAP: Duration = Duration::from_secs(30);

/// Shortest and longest interval between two checks whether a process has ended. The first intervals are short
/// because many processes end immediately.
const MIN_PAUSE: Duration = Duration::from_micros(500);
const MAX_PAUSE: Duration = Duration::from_millis(10);

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The process exited before its deadline, or a signal ended it.
    Exited(ExitStatus),
    /// The process was killed at its deadline.
    TimedOut,
}

impl Ended {
    /// Whether the process exited with success.
    pub fn succeeded(&self) -> bool {
        matches!(self, Ended::Exited(status) if status.success())
    }
}

/// A child process in its own process group. Dropping it kills the group, unless the child has ended.
#[derive(Debug)]
pub struct Supervised {
    child: Child,
    reap: Duration,
}

impl Supervised {
    /// Starts a command in its own process group.
    ///
    /// # Errors
    /// If the command cannot be started.
    pub fn spawn(command: &mut Command) -> io::Result<Supervised> {
        Ok(Supervised {
            child: command.process_group(0).spawn()?,
            reap: MAX_REAP,
        })
    }

    /// Sets the time limit within which a killed process must end.
    pub fn with_reap(mut self, reap: Duration) -> Supervised {
        self.reap = reap;
        self
    }

    /// The child process, for access to its ID and pipes.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Waits for the child until a deadline. Returns `None` if the child still runs at the deadline.
    ///
    /// # Errors
    /// The system's error.
    pub fn wait_until(&mut self, deadline: Instant) -> io::Result<Option<ExitStatus>> {
        let mut pause = MIN_PAUSE;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Some(status));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            thread::sleep(pause.min(left));
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    /// Like [`Self::wait_until`], but if the child still runs at the deadline, kills it together with all its children.
    ///
    /// # Errors
    /// The errors of [`Self::kill`].
    pub fn end_by(&mut self, deadline: Instant) -> io::Result<Ended> {
        match self.wait_until(deadline)? {
            Some(status) => Ok(Ended::Exited(status)),
            None => {
                self.kill()?;
                Ok(Ended::TimedOut)
            }
        }
    }

    /// Kills the process group and waits for the child.
    ///
    /// # Errors
    /// [`io::ErrorKind::TimedOut`] if the child does not end within the time limit, for example because the device
    /// hangs in its driver.
    pub fn kill(&mut self) -> io::Result<ExitStatus> {
        self.kill_group();
        // The child may have left the group, so it is killed separately too.
        let _ = self.child.kill();
        let status = self.wait_until(Instant::now() + self.reap)?;
        status.ok_or_else(|| {
            let (pid, reap) = (self.child.id(), self.reap);
            let text = format!("a killed process (pid {pid}) did not end within {reap:?}");
            io::Error::new(io::ErrorKind::TimedOut, text)
        })
    }

    /// The id of the process, and of its group.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills the remaining processes of the group without waiting. If the group has already ended, this does nothing.
    pub fn kill_group(&self) {
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            // Nothing can be done here about a process that cannot be killed.
            let _ = self.kill();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Read as _};
    use std::process::{ChildStdout, Stdio};

    use super::*;

    /// Starts a shell and a long-running child of the shell, and waits until both run. The returned output reaches its
    /// end when both processes have ended.
    fn two_processes() -> (Supervised, BufReader<ChildStdout>) {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "sleep 1000000 & echo begun; wait"]);
        let mut shell = Supervised::spawn(command.stdout(Stdio::piped())).unwrap();
        let mut output = BufReader::new(shell.child().stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert_eq!(line, "begun\n");
        (shell, output)
    }

    #[test]
    fn a_process_that_is_dropped_ends_with_its_children() {
        let (shell, mut output) = two_processes();
        drop(shell);
        assert_eq!(output.read_to_end(&mut Vec::new()).unwrap(), 0);
    }

    #[test]
    fn a_process_that_passes_its_deadline_ends_with_its_children() {
        let (mut shell, mut output) = two_processes();
        assert_eq!(shell.wait_until(Instant::now()).unwrap(), None);
        assert_eq!(shell.end_by(Instant::now()).unwrap(), Ended::TimedOut);
        assert_eq!(output.read_to_end(&mut Vec::new()).unwrap(), 0);
    }

    #[test]
    fn a_process_that_ends_tells_its_status() {
        let mut command = Command::new("/bin/sh");
        let mut shell = Supervised::spawn(command.args(["-c", "exit 3"])).unwrap();
        let status = shell.child().wait().unwrap();
        let ended = shell.end_by(Instant::now()).unwrap();
        assert_eq!(ended, Ended::Exited(status));
        assert!(status.code() == Some(3) && !ended.succeeded());
    }
}
