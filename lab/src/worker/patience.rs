//! Deadlines of requests to workers. They are extended on a busy machine, and while this process is stopped.
//!
//! A deadline distinguishes a kernel that hangs from a kernel that is slow. On a busy machine, a worker may wait for a
//! processor while the time passes, and a correct config would be stored as hung. Linux reports that waiting time for
//! each thread, as the second number of `/proc/<pid>/task/<tid>/schedstat` (`Documentation/scheduler/sched-stats.rst`).
//! The deadline is extended by the waiting time, up to a limit.
//!
//! This process may also be stopped while a worker runs: by Ctrl-Z, by SIGSTOP, or by a scheduler. The clock then shows
//! that the deadline has passed, although the reply may already be in the pipe. Therefore the time is counted in
//! slices, and a slice that took much longer than planned is not counted.

use std::fs;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The deadline is extended by at most this multiple of itself, so an endless loop ends even on a busy machine.
const MAX_EXTENSION: u32 = 8;

/// The longest slice in which time is counted.
const MAX_SLICE: Duration = Duration::from_secs(1);

/// If a slice ends this much later than planned, this process did not run.
const STOPPED: Duration = Duration::from_secs(1);

/// Maximum number of slices of a request that are not counted.
const MAX_STOPS: u32 = 60;

/// A remaining time that is shorter than this is treated as zero.
const MIN_WAIT: Duration = Duration::from_millis(10);

/// The deadline of one request.
pub(super) struct Patience {
    pid: u32,
    deadline: Duration,
    waited_before: Duration,
    /// The time at which the request ends even if its deadline would be extended.
    until: Option<Instant>,
    /// The time of this request that was counted so far.
    counted: Duration,
}

impl Patience {
    /// Creates a deadline that starts now. After `until`, it is not extended.
    pub(super) fn begin(pid: u32, deadline: Duration, until: Option<Instant>) -> Patience {
        Patience {
            pid,
            deadline,
            waited_before: waited_for_a_processor(pid),
            until,
            counted: Duration::ZERO,
        }
    }

    /// Waits for a reply until the deadline has passed. If several replies arrive, the deadline is that of all of them
    /// together.
    ///
    /// # Errors
    /// No reply arrived in time, or the sender has ended.
    pub(super) fn receive<T>(&mut self, replies: &Receiver<T>) -> Result<T, RecvTimeoutError> {
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
        let waited = waited_for_a_processor(self.pid).saturating_sub(self.waited_before);
        left(self.deadline, waited, counted)
    }
}

fn left(deadline: Duration, waited: Duration, counted: Duration) -> Option<Duration> {
    let extension = waited.min(deadline.saturating_mul(MAX_EXTENSION));
    let left = deadline.saturating_add(extension).saturating_sub(counted);
    (left >= MIN_WAIT).then_some(left)
}

/// Returns for how long a thread of the process was ready to run but had no processor. The result is the maximum over
/// all threads, because the threads of a launch wait in parallel. It is zero if the system does not report the waiting
/// time.
fn waited_for_a_processor(pid: u32) -> Duration {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Duration::ZERO;
    };
    let waited = threads.flatten().filter_map(|thread| {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_whitespace().nth(1)?.parse().ok()
    });
    Duration::from_nanos(waited.max().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

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
        let mut patience = Patience::begin(std::process::id(), 4 * SECOND, None);
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
        let mut patience = Patience::begin(std::process::id(), 4 * SECOND, until);
        let reply = patience.receive_by(wait, || start + passed.get());
        assert_eq!(reply, Err(RecvTimeoutError::Timeout));
        assert_eq!(passed.get(), 120 * SECOND);
    }

    #[test]
    fn a_reply_is_received_before_the_deadline() {
        let (sender, replies) = std::sync::mpsc::channel();
        sender.send(7).unwrap();
        let mut patience = Patience::begin(std::process::id(), SECOND, None);
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
            let before = waited_for_a_processor(sleeper.id());
            std::thread::sleep(Duration::from_millis(50));
            waited_for_a_processor(sleeper.id()) == before
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
            assert_eq!(waited_for_a_processor(std::process::id()), Duration::ZERO);
            return;
        }
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let spin = || {
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", "while :; do :; done"]).spawn().unwrap()
        };
        let mut spinning: Vec<_> = (0..3 * processors).map(|_| spin()).collect();
        let waited = |of: &std::process::Child| waited_for_a_processor(of.id());
        // At any time, two thirds of the processes wait.
        let have_waited = (0..1_000).any(|_| {
            std::thread::sleep(Duration::from_millis(20));
            spinning.iter().map(waited).max() >= Some(Duration::from_millis(50))
        });
        for one in &mut spinning {
            one.kill().unwrap();
            one.wait().unwrap();
        }
        assert!(have_waited);
    }
}
