//! Deadlines of other processes. They are extended on a busy machine, and while this process is stopped.
//!
//! A deadline distinguishes a kernel or a compiler that hangs from a slow one. On a busy machine, a process may wait for
//! a processor while the time passes, and a correct config would be stored as hung. Linux reports that waiting time for
//! each thread, as the second number of `/proc/<pid>/task/<tid>/schedstat` (`Documentation/scheduler/sched-stats.rst`).
//! The deadline is extended by the waiting time, up to a limit.
//!
//! This process may also be stopped while the other one runs: by Ctrl-Z, by SIGSTOP, or by a scheduler. The clock then shows
//! that the deadline has passed, although the reply may already have arrived. Therefore the time is counted in
//! slices, and a slice that took much longer than planned is not counted.

use std::fs;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The deadline is extended by at most this multiple of itself, so an endless loop ends even on a busy machine.
const MAX_EXTENSION: u32 = 8;

/// The longest slice in which time is counted.
const MAX_SLICE: Duration = Duration::from_secs(1);

/// If a slice ends this much later than planned, this process did not run.
const STOPPED: Duration = Duration::from_secs(1);

/// Maximum number of slices of a deadline that are not counted.
const MAX_STOPS: u32 = 60;

/// A remaining time that is shorter than this is treated as zero.
const MIN_WAIT: Duration = Duration::from_millis(10);

/// The processes whose waiting time extends a deadline.
#[derive(Clone, Copy, Debug)]
pub enum Watched {
    /// All threads of the process with this id.
    Process(u32),
    /// The first thread of each process in the group with this id.
    Group(u32),
}

/// The deadline of an answer of other processes.
#[derive(Debug)]
pub struct Patience {
    watched: Watched,
    deadline: Duration,
    waited_before: Duration,
    /// The time at which the wait ends even if its deadline would be extended.
    until: Option<Instant>,
    /// The time that was counted so far.
    counted: Duration,
}

impl Patience {
    /// Creates a deadline that starts now. After `until`, it is not extended.
    pub fn begin(watched: Watched, deadline: Duration, until: Option<Instant>) -> Patience {
        Patience {
            watched,
            deadline,
            waited_before: watched.waited_for_a_processor(),
            until,
            counted: Duration::ZERO,
        }
    }

    /// Waits for a reply until the deadline has passed. If several replies arrive, the deadline is that of all of them
    /// together.
    ///
    /// # Errors
    /// No reply arrived in time, or the sender has ended.
    pub fn receive<T>(&mut self, replies: &Receiver<T>) -> Result<T, RecvTimeoutError> {
        self.receive_by(|slice| replies.recv_timeout(slice), Instant::now)
    }

    /// Like [`Self::receive`], but `wait` waits for a reply and `now` reads the clock.
    fn receive_by<T>(
        &mut self,
        mut wait: impl FnMut(Duration) -> Result<T, RecvTimeoutError>,
        now: impl Fn() -> Instant,
    ) -> Result<T, RecvTimeoutError> {
        let mut stops = 0;
        while let Some(left) = self.left(self.counted) {
            let start = now();
            let until = self
                .until
                .map(|until| until.saturating_duration_since(start));
            let slice = left.min(MAX_SLICE).min(until.unwrap_or(MAX_SLICE));
            if until == Some(Duration::ZERO) {
                break;
            }
            match wait(slice) {
                Err(RecvTimeoutError::Timeout) => {
                    let was_stopped = now() - start > slice + STOPPED && stops < MAX_STOPS;
                    match was_stopped {
                        true => stops += 1,
                        false => self.counted += slice,
                    }
                }
                reply => {
                    self.counted += (now() - start).min(slice);
                    return reply;
                }
            }
        }
        Err(RecvTimeoutError::Timeout)
    }

    /// The time that remains after `counted`; `None` if the deadline has passed.
    fn left(&self, counted: Duration) -> Option<Duration> {
        if counted < self.deadline {
            return Some(self.deadline - counted);
        }
        let waited = self.watched.waited_for_a_processor();
        let waited = waited.saturating_sub(self.waited_before);
        left(self.deadline, waited, counted)
    }
}

/// CPU time of the calling thread, in nanoseconds. It does not grow while the thread waits for a processor or for another
/// thread.
pub(crate) fn thread_cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn left(deadline: Duration, waited: Duration, counted: Duration) -> Option<Duration> {
    let extension = waited.min(deadline.saturating_mul(MAX_EXTENSION));
    let left = deadline.saturating_add(extension).saturating_sub(counted);
    (left >= MIN_WAIT).then_some(left)
}

impl Watched {
    /// Returns for how long one of the threads was ready to run but had no processor. The result is the maximum over all
    /// of them, because they wait in parallel. It is zero if the system does not report the waiting time.
    fn waited_for_a_processor(self) -> Duration {
        let folder = match self {
            Watched::Process(id) => format!("/proc/{id}/task"),
            Watched::Group(_) => "/proc".to_owned(),
        };
        let Ok(threads) = fs::read_dir(folder) else {
            return Duration::ZERO;
        };
        let waited = threads.flatten().filter_map(|thread| {
            if let Watched::Group(id) = self {
                is_of_group(&thread.path(), id).then_some(())?;
            }
            let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            text.split_whitespace().nth(1)?.parse().ok()
        });
        Duration::from_nanos(waited.max().unwrap_or(0))
    }
}

/// Whether a process belongs to a group. `process` is its folder in `/proc`.
fn is_of_group(process: &Path, id: u32) -> bool {
    let stat = fs::read_to_string(process.join("stat")).unwrap_or_default();
    // The name of the program is in parentheses and may contain spaces. The state, the parent and the group follow it.
    let fields = stat.rsplit_once(')').map(|(_, fields)| fields);
    let group = fields.and_then(|fields| fields.split_whitespace().nth(2));
    group.is_some_and(|group| group == id.to_string())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::os::unix::process::CommandExt as _;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn this_process() -> Watched {
        Watched::Process(std::process::id())
    }

    #[test]
    fn time_without_a_processor_extends_a_deadline_within_bounds() {
        assert_eq!(left(4 * SECOND, Duration::ZERO, 4 * SECOND), None);
        assert_eq!(left(4 * SECOND, 3 * SECOND, 4 * SECOND), Some(3 * SECOND));
        assert_eq!(left(4 * SECOND, 3 * SECOND, 7 * SECOND), None);
        assert_eq!(
            left(SECOND, 60 * SECOND, SECOND),
            Some(MAX_EXTENSION * SECOND)
        );
        assert_eq!(left(SECOND, 60 * SECOND, 9 * SECOND), None);
    }

    /// The number of slices until the deadline of 4 s passes, if each of the first `stops` slices takes a minute.
    fn slices(stops: usize) -> usize {
        let mut patience = Patience::begin(this_process(), 4 * SECOND, None);
        let (start, passed, slices) = (Instant::now(), Cell::new(Duration::ZERO), Cell::new(0));
        let wait = |slice: Duration| {
            let stopped = slices.get() < stops;
            slices.set(slices.get() + 1);
            passed.set(passed.get() + if stopped { 60 * SECOND } else { slice });
            Err::<(), _>(RecvTimeoutError::Timeout)
        };
        let reply = patience.receive_by(wait, || start + passed.get());
        assert_eq!(reply, Err(RecvTimeoutError::Timeout));
        slices.get()
    }

    #[test]
    fn a_deadline_does_not_pass_while_this_process_is_stopped() {
        // Other tests run at the same time, so the process may also have waited for a processor.
        assert!(slices(0) >= 4);
        assert!(slices(3) >= 7);
        assert!(slices(1_000) >= 60);
    }

    #[test]
    fn the_end_of_the_run_ends_a_request_whatever_its_deadline_is() {
        let (start, passed) = (Instant::now(), Cell::new(Duration::ZERO));
        let until = Some(start + 90 * SECOND);
        // Every slice takes a minute, so no slice counts for the deadline.
        let wait = |_| {
            passed.set(passed.get() + 60 * SECOND);
            Err::<(), _>(RecvTimeoutError::Timeout)
        };
        let mut patience = Patience::begin(this_process(), 4 * SECOND, until);
        let reply = patience.receive_by(wait, || start + passed.get());
        assert_eq!(reply, Err(RecvTimeoutError::Timeout));
        assert_eq!(passed.get(), 120 * SECOND);
    }

    #[test]
    fn a_reply_is_received_before_the_deadline() {
        let (sender, replies) = std::sync::mpsc::channel();
        sender.send(7).unwrap();
        let mut patience = Patience::begin(this_process(), SECOND, None);
        assert_eq!(patience.receive(&replies), Ok(7));
        drop(sender);
        assert_eq!(
            patience.receive(&replies),
            Err(RecvTimeoutError::Disconnected)
        );
    }

    #[test]
    fn a_process_that_sleeps_does_not_wait_for_a_processor() {
        let mut sleeper = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        // The process starts and then sleeps for a minute. While it sleeps, its waiting time does not grow.
        let stands_still = |_| {
            let waited = || Watched::Process(sleeper.id()).waited_for_a_processor();
            let before = waited();
            std::thread::sleep(Duration::from_millis(50));
            waited() == before
        };
        let stood_still = (0..200).any(stands_still);
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        assert!(stood_still);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn processes_that_outnumber_the_processors_wait_for_one() {
        // Some systems do not keep these statistics. On them, a deadline is never extended, so there is nothing to
        // test.
        let own = fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
        if own.split_whitespace().next().is_none_or(|ran| ran == "0") {
            assert_eq!(this_process().waited_for_a_processor(), Duration::ZERO);
            return;
        }
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let spin = || {
            let mut shell = std::process::Command::new("sh");
            let shell = shell.args(["-c", "while :; do :; done"]);
            shell.process_group(0).spawn().unwrap()
        };
        let mut spinning: Vec<_> = (0..3 * processors).map(|_| spin()).collect();
        // At any time, two thirds of the processes wait.
        let have_waited = |watched: fn(u32) -> Watched| {
            let waited = |of: &std::process::Child| watched(of.id()).waited_for_a_processor();
            (0..1_000).any(|_| {
                std::thread::sleep(Duration::from_millis(20));
                spinning.iter().map(waited).max() >= Some(Duration::from_millis(50))
            })
        };
        let have_waited = [have_waited(Watched::Process), have_waited(Watched::Group)];
        for one in &mut spinning {
            one.kill().unwrap();
            one.wait().unwrap();
        }
        assert_eq!(have_waited, [true, true]);
    }
}
