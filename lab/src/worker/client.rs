//! The parent's side of a worker: starts it, sends requests with a deadline, and kills it with all its child processes.

use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use kiln::supervise::{Patience, Watched};
use kiln_cache::Outcome;
use kiln_spec::time::Nanoseconds;
use rustix::process::{Pid, Signal, kill_process_group};
use thiserror::Error;

use super::frame;
use super::protocol::{Reply, Request};

/// Why a request to a worker failed.
#[derive(Clone, Debug, Error)]
pub enum WorkerError {
    /// The worker replied that the request failed. The worker still runs.
    #[error("{outcome}")]
    Failed {
        /// The arm (loaded candidate) that failed, if the failure belongs to one arm.
        arm: Option<usize>,
        /// The outcome to store.
        outcome: Outcome,
    },
    /// The worker did not reply in time and was killed.
    #[error("no answer within {}; killed", Nanoseconds::from(*.0))]
    TimedOut(Duration),
    /// The time of the run ended before the worker replied, and the worker was killed.
    #[error("the time of the run ended first")]
    OutOfTime,
    /// The worker died.
    #[error("the worker died: {how}{}", if .stderr.is_empty() { String::new() } else { format!(": {}", .stderr) })]
    Lost {
        /// The signal or exit code, as text.
        how: String,
        /// The signal that ended the worker, if a signal did.
        signal: Option<i32>,
        /// The most informative line that the worker wrote to standard error: an error summary if there is one,
        /// otherwise the last line.
        stderr: String,
    },
    /// The worker could not be started, or gave an unexpected reply.
    #[error("cannot start a worker: {0}")]
    Spawn(String),
    /// The worker was killed but did not end, because the device hangs in its driver.
    #[error("a killed worker (pid {pid}) did not end within {waited:?}: the device is lost")]
    Unkillable {
        /// The worker's process ID.
        pid: u32,
        /// How long the parent waited.
        waited: Duration,
    },
}

/// The environment variable that contains the process ID of a worker's parent.
pub(super) const PARENT: &str = "KILN_WORKER_PARENT";

/// Time limit for a worker to open what it works with: a device with its arms (compiled candidates), or a reference.
/// Warm-up launches have a time limit of their own.
pub const OPENING: Duration = Duration::from_secs(20);

/// How workers are started and killed.
#[derive(Clone, Debug)]
pub struct WorkerLimits {
    /// The program and its arguments: the running `tune` with the hidden `worker` subcommand.
    pub command: Vec<std::ffi::OsString>,
    /// Maximum time for a killed worker to end.
    pub reap: Duration,
    /// The time at which every worker is killed, because the time of the run has ended; `None` for no limit.
    pub until: Option<Instant>,
}

/// Receives the time of a launch of the opened problem in nanoseconds, as soon as the worker reports it. If it returns
/// an error, the worker is killed.
pub type OnLaunch<'a> = &'a dyn Fn(u64) -> Result<(), WorkerError>;

impl WorkerLimits {
    /// Starts workers from the running program.
    ///
    /// # Errors
    /// If the path of the running program cannot be found.
    pub fn current() -> std::io::Result<WorkerLimits> {
        // This link opens the program that is running, even if a build has since replaced its file.
        let link = std::path::PathBuf::from("/proc/self/exe");
        let program = if link.exists() {
            link
        } else {
            std::env::current_exe()?
        };
        Ok(WorkerLimits {
            command: vec![program.into(), "worker".into()],
            // A GPU's driver may keep a killed process until its kernel ends or the watchdog resets the device.
            reap: Duration::from_secs(30),
            until: None,
        })
    }
}

/// Variables that make a GPU's driver wait for every launch. Times would include that waiting.
pub const SERIALIZING: [&str; 4] = [
    "CUDA_LAUNCH_BLOCKING",
    "HIP_LAUNCH_BLOCKING",
    "AMD_SERIALIZE_KERNEL",
    "AMD_SERIALIZE_COPY",
];

fn command(limits: &WorkerLimits) -> Result<Command, WorkerError> {
    let (program, arguments) = limits
        .command
        .split_first()
        .ok_or_else(|| WorkerError::Spawn("no program".into()))?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .env("RUST_BACKTRACE", "0")
        .env(PARENT, std::process::id().to_string())
        // With lazy loading, CUDA loads a kernel at its first launch, and such a launch cannot be recorded into a
        // graph.
        .env("CUDA_MODULE_LOADING", "EAGER")
        .process_group(0);
    for name in SERIALIZING {
        command.env_remove(name);
    }
    Ok(command)
}

/// A running worker process. Dropping this value kills the process group of the worker.
#[derive(Debug)]
pub struct Worker {
    child: Child,
    input: Option<ChildStdin>,
    replies: Receiver<std::io::Result<Option<Reply>>>,
    stderr: Arc<Mutex<String>>,
    /// The index of the arm that the worker last announced that it would launch; -1 if it announced none.
    launching: Arc<AtomicI64>,
    reap: Duration,
    until: Option<Instant>,
    ended: bool,
}

impl Worker {
    /// Starts a fresh worker.
    ///
    /// # Errors
    /// [`WorkerError::Spawn`] if the process or its reader threads cannot be started.
    pub fn spawn(limits: &WorkerLimits) -> Result<Worker, WorkerError> {
        let spawn = |error: std::io::Error| WorkerError::Spawn(error.to_string());
        let mut child = command(limits)?.spawn().map_err(spawn)?;
        let (sender, replies) = channel();
        let launching = Arc::new(AtomicI64::new(-1));
        if let Some(output) = child.stdout.take() {
            let launching = launching.clone();
            let pass_on = move || pass_on(output, &sender, &launching);
            thread::Builder::new().spawn(pass_on).map_err(spawn)?;
        }
        let stderr = Arc::new(Mutex::new(String::new()));
        if let Some(output) = child.stderr.take() {
            let stderr = stderr.clone();
            thread::Builder::new()
                .spawn(move || keep_tail(output, &stderr))
                .map_err(spawn)?;
        }
        let input = child.stdin.take();
        Ok(Worker {
            child,
            input,
            replies,
            stderr,
            launching,
            reap: limits.reap,
            until: limits.until,
            ended: false,
        })
    }

    /// Sets the time at which every later request ends; `None` for no limit.
    pub(super) fn end_by(&mut self, until: Option<Instant>) {
        self.until = until;
    }

    /// Sends a request and waits for its reply. The deadline does not include time during which the worker was ready to
    /// run but got no processor, or during which this process was stopped (see `patience.rs`). The end of the run's time
    /// ends every request.
    ///
    /// # Errors
    /// If the worker dies, replies with a failure, or does not reply within the deadline. A worker that died or missed
    /// the deadline cannot be used again.
    pub fn ask(&mut self, request: &Request, deadline: Duration) -> Result<Reply, WorkerError> {
        self.ask_watched(request, deadline, &|_| Ok(()))
    }

    /// Like [`Self::ask`], and passes the times of launches on to `on_launch`.
    ///
    /// # Errors
    /// The errors of [`Self::ask`] and of `on_launch`.
    pub fn ask_watched(
        &mut self,
        request: &Request,
        deadline: Duration,
        on_launch: OnLaunch<'_>,
    ) -> Result<Reply, WorkerError> {
        let mut patience = Patience::begin(Watched::Process(self.child.id()), deadline, self.until);
        let sent = match &mut self.input {
            Some(input) => frame::write(input, request),
            None => return Err(self.lost()),
        };
        if sent.is_err() {
            return Err(self.lost());
        }
        loop {
            return match patience.receive(&self.replies) {
                Ok(Ok(Some(Reply::Launched { ns }))) => match on_launch(ns) {
                    Ok(()) => continue,
                    Err(error) => {
                        self.kill()?;
                        Err(error)
                    }
                },
                Ok(Ok(Some(Reply::Failed { arm, outcome }))) => {
                    Err(WorkerError::Failed { arm, outcome })
                }
                Ok(Ok(Some(reply))) => Ok(reply),
                Ok(_) | Err(RecvTimeoutError::Disconnected) => Err(self.lost()),
                Err(RecvTimeoutError::Timeout) => {
                    self.kill()?;
                    let out_of_time = self.until.is_some_and(|until| Instant::now() >= until);
                    Err(match out_of_time {
                        true => WorkerError::OutOfTime,
                        false => WorkerError::TimedOut(deadline),
                    })
                }
            };
        }
    }

    /// The index of the arm that the worker last announced that it would launch. If the worker is lost, this arm is
    /// considered the cause.
    pub fn launching(&self) -> Option<usize> {
        usize::try_from(self.launching.load(Ordering::Acquire)).ok()
    }

    /// The worker's process ID. Tests use it to look for leftover processes.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills the whole process group and waits for the worker.
    fn kill(&mut self) -> Result<Option<ExitStatus>, WorkerError> {
        self.input = None;
        if self.ended {
            return Ok(None);
        }
        self.signal_group();
        self.wait(self.reap)
    }

    fn signal_group(&self) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // If the group has already ended, there is nothing to kill.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    fn wait(&mut self, bound: Duration) -> Result<Option<ExitStatus>, WorkerError> {
        let start = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => {
                    self.ended = true;
                    return Ok(Some(status));
                }
                Ok(None) if start.elapsed() < bound => thread::sleep(Duration::from_micros(500)),
                Ok(None) => {
                    return Err(WorkerError::Unkillable {
                        pid: self.child.id(),
                        waited: bound,
                    });
                }
                Err(_) => return Ok(None),
            }
        }
    }

    /// Determines why a worker no longer replies.
    fn lost(&mut self) -> WorkerError {
        // The worker closed its pipe. It gets a moment to exit, so its exit status can be read.
        let status = match self.wait(Duration::from_millis(500)) {
            Ok(status) => status,
            Err(_) => match self.kill() {
                Ok(status) => status,
                Err(unkillable) => return unkillable,
            },
        };
        self.signal_group();
        let signal = status.and_then(|status| status.signal());
        let how = status.map_or_else(|| "its status is unknown".to_owned(), describe);
        // The reader thread ends when the pipe closes, so a short wait is enough to get the last line.
        thread::sleep(Duration::from_millis(2));
        let stderr = self
            .stderr
            .lock()
            .map(|text| last_line(&text))
            .unwrap_or_default();
        WorkerError::Lost {
            how,
            signal,
            stderr,
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // `ask` has already reported a process that cannot be killed, and nothing more can be done here.
        let _ = self.kill();
    }
}

/// Forwards replies to the channel, and stores which arm the worker is about to launch.
fn pass_on(
    mut output: ChildStdout,
    replies: &Sender<std::io::Result<Option<Reply>>>,
    launching: &AtomicI64,
) {
    loop {
        let reply = frame::read::<Reply>(&mut output);
        if let Ok(Some(Reply::Launching { arm })) = reply {
            launching.store(i64::try_from(arm).unwrap_or(-1), Ordering::Release);
            continue;
        }
        let last = !matches!(reply, Ok(Some(_)));
        if replies.send(reply).is_err() || last {
            return;
        }
    }
}

fn describe(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("signal {signal}"),
        (None, Some(code)) => format!("exit code {code}"),
        (None, None) => "no status".into(),
    }
}

/// Keeps the last 8 to 16 KiB of a stream.
fn keep_tail(mut stream: impl Read, tail: &Mutex<String>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        let Ok(mut tail) = tail.lock() else { return };
        tail.push_str(&String::from_utf8_lossy(&buffer[..count]));
        if tail.len() > 16 << 10 {
            let cut = tail.ceil_char_boundary(tail.len() - (8 << 10));
            tail.drain(..cut);
        }
    }
}

fn last_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    // The summary of a sanitizer is more informative than the last line of its dump.
    let summary = lines
        .clone()
        .find(|line| line.contains("ERROR:") || line.starts_with("kiln:"));
    summary
        .or_else(|| lines.next_back())
        .unwrap_or_default()
        .chars()
        .take(300)
        .collect()
}

#[cfg(test)]
mod environment_tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn no_variable_makes_a_workers_driver_wait_for_every_launch() {
        let command = command(&WorkerLimits::current().unwrap()).unwrap();
        let value = |name: &str| {
            let mut set = command
                .get_envs()
                .filter(|(set, _)| *set == OsStr::new(name));
            set.next().map(|(_, value)| value)
        };
        for name in SERIALIZING {
            assert_eq!(value(name), Some(None), "{name}");
        }
        let eager = Some(Some(OsStr::new("EAGER")));
        assert_eq!(value("CUDA_MODULE_LOADING"), eager);
    }
}
