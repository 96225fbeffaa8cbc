//! How long a worker is waited for on a machine that has other things to do.
//!
//! A deadline is there to tell a kernel that hangs from one that is slow. On a busy machine the clock on the wall goes on
//! while the worker waits for a processor, and a sound config would be stored as one that hangs. The kernel counts that
//! time for each thread: the second number of `/proc/<pid>/task/<tid>/schedstat` (Linux,
//! `Documentation/scheduler/sched-stats.rst`). It is added to the deadline, within bounds.

use std::fs;
use std::time::{Duration, Instant};

/// The deadline is extended by this many times itself at most, so that an endless loop on a busy machine ends too.
const MAX_EXTENSION: u32 = 8;

/// Waiting on for less than this is not worth another look.
const LEAST: Duration = Duration::from_millis(10);

/// A deadline of one request.
pub(super) struct Patience {
    pid: u32,
    start: Instant,
    deadline: Duration,
    waited_before: Duration,
}

impl Patience {
    /// A deadline that starts now.
    pub(super) fn begin(pid: u32, deadline: Duration) -> Patience {
        Patience {
            pid,
            start: Instant::now(),
            deadline,
            waited_before: waited_for_a_processor(pid),
        }
    }

    /// How much longer the worker may take; `None` when its time is up.
    pub(super) fn left(&self) -> Option<Duration> {
        let waited = waited_for_a_processor(self.pid).saturating_sub(self.waited_before);
        left(self.deadline, waited, self.start.elapsed())
    }
}

fn left(deadline: Duration, waited: Duration, elapsed: Duration) -> Option<Duration> {
    let extension = waited.min(deadline.saturating_mul(MAX_EXTENSION));
    let left = deadline.saturating_add(extension).saturating_sub(elapsed);
    (left >= LEAST).then_some(left)
}

/// How long the thread of a process that waited longest was ready to run without a processor. Zero if the system does not
/// tell. The threads of a launch wait side by side, so their times are not added up.
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
        let patience = Patience::begin(sleeper.id(), Duration::ZERO);
        std::thread::sleep(Duration::from_millis(300));
        let left = patience.left();
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        assert_eq!(left, None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn processes_that_outnumber_the_processors_wait_for_one() {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let spin = || {
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", "while :; do :; done"]).spawn().unwrap()
        };
        let mut spinning: Vec<_> = (0..3 * processors).map(|_| spin()).collect();
        let waited = |of: &std::process::Child| waited_for_a_processor(of.id());
        // Two of three wait at any time. Ends when they have, however long that takes.
        while spinning.iter().map(waited).max() < Some(Duration::from_millis(50)) {
            std::thread::sleep(Duration::from_millis(20));
        }
        for one in &mut spinning {
            one.kill().unwrap();
            one.wait().unwrap();
        }
    }
}
