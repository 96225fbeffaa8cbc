//! Runs a peer process. The peer answers each request line with one line. If it does not answer in time, it is killed
//! with all its child processes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use thiserror::Error;

use super::data::{Given, OutputError};
use super::protocol::{Answer, Asked};

/// Time limit for a peer to start, open a kernel, or write its outputs. Some libraries load slowly.
const STARTING: Duration = Duration::from_secs(120);

/// How long to wait for the exit status after the peer closes its output.
const ENDING: Duration = Duration::from_millis(200);

/// The system may add the CPU time of a process's threads to its total some clock ticks late. A reported time may
/// therefore include CPU time that was spent before the measurement began, up to this much per core.
const ACCOUNTED_NS: u64 = 20_000_000;

/// Maximum length of a peer's answer in bytes. A program that writes without end is not a peer.
const MAX_BYTES: u64 = 1 << 20;

/// Why a peer cannot be timed.
#[derive(Debug, Error)]
pub enum PeerError {
    /// The peer does not support the kernel.
    #[error("{0}")]
    Unsupported(String),
    /// The peer did not start, died, or sent an unexpected answer.
    #[error("{0}")]
    Said(String),
    /// The peer's outputs are wrong.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The expected outputs could not be computed.
    #[error(transparent)]
    Expected(Box<dyn std::error::Error>),
}

/// A running peer. Dropping this value kills the process group of the peer.
#[derive(Debug)]
pub struct PeerProcess {
    child: Child,
    input: ChildStdin,
    answers: Receiver<String>,
    name: String,
}

/// Times that a peer reports for some calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimedCalls {
    pub(super) wall_ns: u64,
    pub(super) cpu_ns: u64,
    /// Time by the device's own clock; `None` unless the peer computes on a GPU and reads that clock.
    pub(super) device_ns: Option<u64>,
}

impl PeerProcess {
    /// Starts a command with the shell and waits until the peer sends its name.
    ///
    /// # Errors
    /// If the command cannot be started, or the peer sends an unexpected answer.
    pub fn start(command: &str) -> Result<PeerProcess, PeerError> {
        let cannot = |error: std::io::Error| PeerError::Said(format!("cannot start it: {error}"));
        let mut child = Command::new("/bin/sh")
            .args(["-c", command])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .process_group(0)
            .spawn()
            .map_err(cannot)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(PeerError::Said("it has no pipes".into()));
        };
        let (sender, answers) = channel();
        let read = move || {
            let mut lines = BufReader::new(output);
            let mut line = Vec::new();
            while std::io::Read::take(&mut lines, MAX_BYTES)
                .read_until(b'\n', &mut line)
                .is_ok_and(|read| read > 0)
                && sender
                    .send(String::from_utf8_lossy(&std::mem::take(&mut line)).into_owned())
                    .is_ok()
            {}
        };
        let reader = thread::Builder::new().spawn(read);
        let mut process = PeerProcess {
            child,
            input,
            answers,
            name: command.to_owned(),
        };
        reader.map_err(cannot)?;
        match process.answer(STARTING)? {
            Answer::Started { peer } => process.name = peer,
            other => return Err(out_of_turn("starting", &other)),
        }
        Ok(process)
    }

    /// The name by which the peer identifies itself.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Prepares the peer for a kernel. Returns the name of the function that the peer calls, and the peer's number of
    /// threads.
    ///
    /// # Errors
    /// If the peer does not support the kernel, reports more threads than the machine has cores, or does not answer as
    /// expected.
    pub fn open(&mut self, given: &Given) -> Result<(String, u32), PeerError> {
        match self.ask(&Asked::Open(given.work()), STARTING)? {
            Answer::Opened { opened, threads } if u64::from(threads) <= cores() => {
                Ok((opened, threads.max(1)))
            }
            Answer::Opened { threads, .. } => Err(PeerError::Said(format!(
                "it says that it uses {threads} threads, but there are only {} cores",
                cores()
            ))),
            Answer::Unsupported { unsupported } => Err(PeerError::Unsupported(unsupported)),
            other => Err(out_of_turn("opening", &other)),
        }
    }

    /// Requests that the peer writes its outputs into files.
    ///
    /// # Errors
    /// If the peer does not confirm that it wrote them.
    pub fn write(&mut self, given: &Given) -> Result<(), PeerError> {
        given.forget_outputs();
        match self.ask(&Asked::Write(given.outputs()), STARTING)? {
            Answer::Written { written: true } => Ok(()),
            other => Err(out_of_turn("writing", &other)),
        }
    }

    /// Times `calls` calls. Returns an error if the reported times contradict the time that passed in this process, for
    /// example because they have the wrong unit, or because they exceed the CPU time that all cores together could have
    /// spent.
    pub(super) fn time(&mut self, calls: u32, deadline: Duration) -> Result<TimedCalls, PeerError> {
        let asked = Instant::now();
        let answer = self.ask(&Asked::Time(calls), deadline)?;
        let waited_ns = u64::try_from(asked.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let Answer::Timed {
            ns,
            cpu_ns,
            device_ns,
        } = answer
        else {
            return Err(out_of_turn("timing", &answer));
        };
        let most_cpu_ns = (waited_ns / 10 * 11)
            .saturating_add(ACCOUNTED_NS)
            .saturating_mul(cores());
        if ns > waited_ns || cpu_ns > most_cpu_ns {
            return Err(PeerError::Said(format!(
                "it says that {calls} calls took {ns} ns and {cpu_ns} ns of CPU time, but only {waited_ns} ns went by"
            )));
        }
        if device_ns.is_some_and(|device_ns| device_ns > waited_ns) {
            return Err(PeerError::Said(format!(
                "it says that {calls} calls took {} ns on the device, but only {waited_ns} ns went by",
                device_ns.unwrap_or_default()
            )));
        }
        Ok(TimedCalls {
            wall_ns: ns,
            cpu_ns,
            device_ns,
        })
    }

    fn ask(&mut self, asked: &Asked<'_>, deadline: Duration) -> Result<Answer, PeerError> {
        let line = serde_json::to_string(asked).map_err(|error| PeerError::Said(error.to_string()));
        // A failed write is ignored. If the peer died, it gives no answer either, and the missing answer is reported.
        let _ = writeln!(self.input, "{}", line?).and_then(|()| self.input.flush());
        self.answer(deadline)
    }

    /// Describes how the peer ended after it closed its output. A peer that still runs is killed on drop.
    fn ending(&mut self) -> String {
        thread::sleep(ENDING);
        match self.child.try_wait() {
            Ok(Some(status)) => format!("it ended ({status})"),
            Ok(None) => "it closed its output and went on".into(),
            Err(error) => format!("it ended ({error})"),
        }
    }

    fn answer(&mut self, deadline: Duration) -> Result<Answer, PeerError> {
        let said = |text: String| Err(PeerError::Said(text));
        let line = match self.answers.recv_timeout(deadline) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => {
                return said(format!("no answer within {} s", deadline.as_secs()));
            }
            Err(RecvTimeoutError::Disconnected) => return said(self.ending()),
        };
        serde_json::from_str(&line).or_else(|_| {
            let shown: String = line.trim_end().chars().take(80).collect();
            said(format!(
                "it answered `{shown}`, which docs/peers.md does not know"
            ))
        })
    }
}

impl Drop for PeerProcess {
    fn drop(&mut self) {
        if let Some(group) = Pid::from_raw(i32::try_from(self.child.id()).unwrap_or(0)) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

fn cores() -> u64 {
    thread::available_parallelism().map_or(1, |cores| cores.get() as u64)
}

fn out_of_turn(doing: &str, answer: &Answer) -> PeerError {
    PeerError::Said(format!("it answered {answer:?} when {doing}"))
}
