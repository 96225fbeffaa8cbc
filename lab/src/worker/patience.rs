//! Deadlines of requests to workers. They are extended on a busy machine.
//!
//! A deadline distinguishes a kernel that hangs from a kernel that is slow. On a busy machine, a worker may wait for a
//! processor while the time passes, and a correct config would be stored as hung. Linux reports that waiting time for
//! each thread, as the second number of `/proc/<pid>/task/<tid>/schedstat` (`Documentation/scheduler/sched-stats.rst`).
//! The deadline is extended by the waiting time, up to a limit.

use std::fs;
use std::time::{Duration, Instant};

/// The deadline is extended by at most this multiple of itself, so an endless loop ends even on a busy machine.
const MAX_EXTENSION: u32 = 8;

/// A remaining time that is shorter than this is treated as zero.
const MIN_WAIT: Duration = Duration::from_millis(10);

/// The deadline of one request.
pub(super) struct Patience {
    pid: u32,
    start: Instant,
    deadline: Duration,
    waited_before: Duration,
}

impl Patience {
    /// Creates a deadline that starts now.
    pub(super) fn begin(pid: u32, deadline: Duration) -> Patience {
        Patience {
            pid,
            start: Instant::now(),
            deadline,
            waited_before: waited_for_a_processor(pid),
        }
    }

    /// The time that remains; `None` if the deadline has passed.
    pub(super) fn left(&self) -> Option<Duration> {
        let waited = waited_for_a_processor(self.pid).saturating_sub(self.waited_before);
        left(self.deadline, waited, self.start.elapsed())
    }
}

fn left(deadline: Duration, waited: Duration, elapsed: Duration) -> Option<Duration> {
    let extension = waited.min(deadline.saturating_mul(MAX_EXTENSION));
    let left = deadline.saturating_add(extension).saturating_sub(elapsed);
    (left >= MIN_WAIT).then_some(left)
}

/// How long a thread of the process was ready to run but had no processor: the maximum over all threads, because the
/// threads of a launch wait in parallel. Zero if the system does not report it.
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
        // Some systems do not keep these statistics, and a deadline is never extended there.
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
