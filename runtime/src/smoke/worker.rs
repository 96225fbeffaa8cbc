//! Runs smoke tests in a child process of the same test binary, with a deadline.

use std::fmt;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use thiserror::Error;

use super::{SmokeOptions, fault_of_launch, open, run_numbered};
use crate::kernel::Kernel;
use crate::supervise::{Ended, Supervised};

/// The environment variable that marks the child process. Its value is the name of the kernel to run.
const WORKER: &str = "KILN_SMOKE_WORKER";
/// The environment variable that selects the device. If it is not set, the device is `cpu`.
const DEVICE: &str = "KILN_SMOKE_DEVICE";
/// The environment variable with the time limit in seconds for the smoke tests of one kernel.
const DEADLINE: &str = "KILN_SMOKE_DEADLINE_S";
/// The environment variable with the number of a launch that ended a child process. Another child process then runs only
/// the check build of this launch.
const DIED_IN: &str = "KILN_SMOKE_DIED_IN";
/// Time limit for that process.
const EXPLAIN_DEADLINE: Duration = Duration::from_secs(60);
/// The line that the child prints before a report with failures.
const FAILED: &str = "kiln smoke: failed";
/// The text before the number of the launch that the child announces.
const LAUNCH: &str = ", launch ";
const DEFAULT_DEADLINE: Duration = Duration::from_secs(300);

/// The time limit of a smoke test: `KILN_SMOKE_DEADLINE_S`, or five minutes.
pub fn deadline_of_user() -> Duration {
    let text = std::env::var(DEADLINE).ok();
    let seconds = text.and_then(|text| text.parse().ok());
    seconds.map_or(DEFAULT_DEADLINE, Duration::from_secs)
}

/// The body of a generated smoke test. `path` is the test's module path and name.
///
/// # Panics
/// If a row does not launch as intended, if the child process crashes or hangs, or if the device does not exist. The
/// panic makes the test fail.
pub fn test(kernel: &'static Kernel, path: &str) {
    let named = std::env::var(DEVICE).ok();
    // A user who specifies a device wants all rows to run on that device.
    let simulate_absent = named.is_none();
    let device = named.unwrap_or_else(|| "cpu".into());
    if std::env::var(WORKER).is_ok_and(|name| name == kernel.name()) {
        run_here(kernel, &device, simulate_absent);
        return;
    }
    // The test harness names tests without their crate.
    let name = path.split_once("::").map_or(path, |(_, name)| name);
    match run_in_child(kernel, name, deadline_of_user()) {
        Ok(output) => println!("{output}"),
        Err(why) => panic!("smoke test of `{}` on `{device}`: {why}", kernel.name()),
    }
}

/// Runs the smoke tests of a kernel in this process, which is the child process.
fn run_here(kernel: &'static Kernel, device: &str, simulate_absent: bool) {
    let device = match open(device) {
        Ok(device) => device,
        Err(error) => panic!("no device: {error}"),
    };
    let options = SmokeOptions {
        simulate_absent,
        ..SmokeOptions::default()
    };
    if let Some(number) = std::env::var(DIED_IN)
        .ok()
        .and_then(|text| text.parse().ok())
    {
        if let Some(fault) = fault_of_launch(kernel, &device, &options, number) {
            println!("{FAILED}\n{fault}");
        }
        std::process::exit(1);
    }
    let report = run_numbered(kernel, &device, &options, |number, choice, problem| {
        println!("kiln smoke: {choice} for {problem}{LAUNCH}{number}");
    });
    if report.passed() {
        println!("{report}");
        return;
    }
    println!("{FAILED}\n{report}");
    // The test in the parent process fails with this report. A panic here would repeat the report inside the output of
    // the child's test harness.
    std::process::exit(1);
}

/// Runs the test again in a child process. Returns the child's output, or the reason why it failed.
fn run_in_child(
    kernel: &'static Kernel,
    test: &str,
    deadline: Duration,
) -> Result<String, ChildFailure> {
    let (status, said) = child(kernel, test, None, deadline)?;
    match status {
        Some(status) if status.success() => said.ran_one(),
        Some(status) if status.code() == Some(1) && said.stdout.contains(FAILED) => {
            Err(ChildFailure::Failed { said })
        }
        Some(status) => {
            let fault = fault(kernel, test, &said).unwrap_or_default();
            Err(ChildFailure::Died {
                fault,
                status,
                said,
            })
        }
        None => Err(ChildFailure::TimedOut { deadline, said }),
    }
}

/// The fault that the check build finds in the last launch of a child that died, as the beginning of a message. `None` if
/// it finds none.
fn fault(kernel: &'static Kernel, test: &str, died: &Said) -> Option<String> {
    let (_, number) = died.last().rsplit_once(LAUNCH)?;
    let (_, said) = child(kernel, test, Some(number), EXPLAIN_DEADLINE).ok()?;
    let (_, fault) = said.stdout.split_once(FAILED)?;
    Some(format!("{}\n", fault.trim()))
}

/// Runs a child process to its end. The status is `None` if it was killed at the deadline.
fn child(
    kernel: &'static Kernel,
    test: &str,
    died_in: Option<&str>,
    deadline: Duration,
) -> Result<(Option<ExitStatus>, Said), ChildFailure> {
    let binary = std::env::current_exe().map_err(|error| ChildFailure::Program { error })?;
    let mut command = Command::new(binary);
    command
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(WORKER, kernel.name())
        .envs(died_in.map(|number| (DIED_IN, number)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child =
        Supervised::spawn(&mut command).map_err(|error| ChildFailure::Start { error })?;
    let stdout = drain(child.child().stdout.take());
    let stderr = drain(child.child().stderr.take());
    let ended = child.end_by(Instant::now() + deadline);
    let (stdout, stderr) = (join(stdout), join(stderr));
    let status = match ended.map_err(|error| ChildFailure::Lost { error })? {
        Ended::Exited(status) => Some(status),
        Ended::TimedOut => None,
    };
    Ok((status, Said { stdout, stderr }))
}

/// The output of a child process.
#[derive(Debug)]
struct Said {
    stdout: String,
    stderr: String,
}

impl Said {
    /// The standard output of a child that succeeded. If the child ran no test, this is an error, because such a run
    /// proves nothing.
    fn ran_one(self) -> Result<String, ChildFailure> {
        if self.stdout.contains("launched as intended") {
            return Ok(self.stdout);
        }
        Err(ChildFailure::RanNothing { said: self })
    }

    /// The last launch that the child announced.
    fn last(&self) -> &str {
        let mut lines = self.stdout.lines();
        let last = lines.rfind(|line| line.contains("kiln smoke: "));
        last.map_or("nothing was launched", str::trim)
    }

    /// The report that follows the line [`FAILED`], and standard error.
    fn report(&self) -> String {
        let report = self.stdout.split_once(FAILED);
        let report = report.map_or("", |(_, report)| report).trim();
        let text = format!("{report}\n{}", self.stderr.trim());
        text.trim_end().to_owned()
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.stdout, self.stderr)
    }
}

/// The reason why a child process did not pass.
#[derive(Debug, Error)]
enum ChildFailure {
    #[error("{error}")]
    Program { error: io::Error },
    #[error("its child process does not start: {error}")]
    Start { error: io::Error },
    #[error("its child process is lost: {error}")]
    Lost { error: io::Error },
    #[error("{}", said.report())]
    Failed { said: Said },
    #[error("{fault}{}; last: {}\n{said}", describe(*status), said.last())]
    Died {
        fault: String,
        status: ExitStatus,
        said: Said,
    },
    #[error(
        "not done after {} s, and killed; last: {}\nhelp: set {DEADLINE} if it needs longer\n{said}",
        deadline.as_secs(), said.last()
    )]
    TimedOut { deadline: Duration, said: Said },
    #[error("the child process ran nothing:\n{}", said.stdout)]
    RanNothing { said: Said },
}

fn describe(status: ExitStatus) -> String {
    match status.signal() {
        Some(signal) => format!("the process died of signal {signal}"),
        None => format!("the process failed ({status})"),
    }
}

fn drain<R: std::io::Read + Send + 'static>(
    pipe: Option<R>,
) -> Option<std::thread::JoinHandle<Vec<u8>>> {
    let mut pipe = pipe?;
    Some(std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    }))
}

fn join(reader: Option<std::thread::JoinHandle<Vec<u8>>>) -> String {
    let bytes = reader.and_then(|reader| reader.join().ok());
    String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
}
