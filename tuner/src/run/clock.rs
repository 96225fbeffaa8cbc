//! The clock of a run, which provides the timestamps of trials.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use kiln_cache::record::TrialPlace;

/// The clock of one run.
#[derive(Debug)]
pub struct RunClock {
    run: u64,
    start: Instant,
    trials: AtomicU64,
}

impl RunClock {
    /// Creates the clock of run number `run`, which began at `start`.
    pub fn new(run: u64, start: Instant) -> RunClock {
        RunClock {
            run,
            start,
            trials: AtomicU64::new(0),
        }
    }

    /// Nanoseconds since the run began.
    pub fn elapsed_ns(&self) -> u64 {
        nanoseconds(self.start.elapsed())
    }

    /// The timestamp of a trial that ends now: the run, the number of the trial in it, and the time since the run
    /// began.
    pub fn place(&self) -> TrialPlace {
        TrialPlace {
            run: self.run,
            order: self.trials.fetch_add(1, Ordering::Relaxed) + 1,
            end_ns: self.elapsed_ns(),
        }
    }
}

/// A duration in whole nanoseconds.
pub fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// The current time in seconds since 1970.
pub fn unix_s() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_from_one_and_never_go_back() {
        let clock = RunClock::new(7, Instant::now());
        let places: Vec<_> = (0..100).map(|_| clock.place()).collect();
        assert!(places.iter().all(|place| place.run == 7));
        assert_eq!((places[0].order, places[99].order), (1, 100));
        assert!(places.is_sorted_by_key(|place| place.end_ns));
    }
}
