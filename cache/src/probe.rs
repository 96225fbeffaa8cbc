//! Opens a database in a child process that can be killed, before the database is opened in this process.
//!
//! If a database is damaged, sled may loop forever or abort the process. The child process keeps this failure away from
//! the caller's process. The caller specifies the child's command ([`ProbeCommand`]). The child calls [`run`] and exits
//! with its result.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::store::{SledStore, StoreError};

/// Time after which a probe exits even if the process that started it has ended and cannot kill it.
const LONGEST_PROBE: Duration = Duration::from_secs(120);
/// Time between two checks of whether the child has ended.
const POLL: Duration = Duration::from_millis(2);

/// Exit codes of a probe. They differ from 1 and 101, with which failing and panicking programs exit.
const SOUND: i32 = 0;
const DAMAGED: i32 = 40;
const NEWER: i32 = 41;
const LOCKED: i32 = 42;
const STUCK: i32 = 43;
const FAILED: i32 = 44;

/// The command that starts a probe. The path of the database is added as the last argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeCommand {
    /// Path of the program, usually the current one.
    pub program: PathBuf,
    /// Arguments before the database's path.
    pub args: Vec<OsString>,
}

/// Opens the database at `path`, reads it completely, and returns the exit code for the process.
pub fn run(path: &Path) -> i32 {
    #[cfg(target_os = "linux")]
    {
        // If this call fails, the watchdog below still ends a probe whose parent has ended.
        let _ =
            rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    }
    let watchdog = std::thread::Builder::new().spawn(|| {
        std::thread::sleep(LONGEST_PROBE);
        std::process::exit(STUCK);
    });
    if watchdog.is_err() {
        return DAMAGED;
    }
    match SledStore::open(path) {
        Ok(store) => {
            drop(store);
            SOUND
        }
        Err(StoreError::Locked { .. }) => LOCKED,
        Err(StoreError::Newer { .. }) => NEWER,
        Err(StoreError::Failed { .. }) => FAILED,
        Err(_) => DAMAGED,
    }
}

/// The result of a probe.
#[derive(Debug)]
pub(crate) enum Probed {
    /// The database was opened and read completely.
    Sound,
    /// The database is damaged, or opening it failed or did not end.
    Damaged(String),
    /// A newer version wrote the database.
    Newer,
    /// Another process has it open.
    Locked,
    /// The operating system reported an error, for example because the disk is full or permissions are missing.
    Failed,
    /// The probe could not be started.
    NotRun(io::Error),
}

/// Runs a probe, and kills it after `deadline`.
pub(crate) fn ask(command: &ProbeCommand, path: &Path, deadline: Duration) -> Probed {
    let child = Command::new(&command.program)
        .args(&command.args)
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return Probed::NotRun(error),
    };
    match wait(&mut child, deadline) {
        Ok(Some(status)) => judge(status),
        Ok(None) => {
            let ms = deadline.as_millis();
            Probed::Damaged(format!("it could not be opened within {ms} ms"))
        }
        Err(error) => Probed::NotRun(error),
    }
}

/// Waits for the child. After the deadline, kills the child and returns `None`.
fn wait(child: &mut Child, deadline: Duration) -> io::Result<Option<ExitStatus>> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if began.elapsed() >= deadline {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(POLL);
    }
}

fn judge(status: ExitStatus) -> Probed {
    match status.code() {
        Some(SOUND) => Probed::Sound,
        Some(DAMAGED) => Probed::Damaged("it does not read back as it was written".into()),
        Some(NEWER) => Probed::Newer,
        Some(LOCKED) => Probed::Locked,
        Some(FAILED) => Probed::Failed,
        Some(STUCK) => Probed::Damaged("opening it did not end".into()),
        _ => Probed::Damaged(format!("opening it ended with {status}")),
    }
}
