//! The verdict of a comparison on each kernel and problem, and which verdicts fail a build.

use serde::Serialize;

use kiln_measure::interval::Interval;
use kiln_measure::summary::Quartiles;

/// The margin of *same* without a threshold: a change of 5 % or more is excluded.
pub const DEFAULT_MARGIN: f64 = 0.05;

/// One kernel and problem: saved, current, or both.
#[derive(Clone, Debug, Serialize)]
pub struct WatchRow {
    /// The package.
    pub package: String,
    /// The kernel.
    pub kernel: String,
    /// The problem.
    pub problem: String,
    /// The device on which the kernel was saved; for a new kernel, the device on which it is measured.
    pub device: String,
    /// The verdict.
    pub verdict: WatchVerdict,
    /// The reason, or the changes, in words.
    pub reason: String,
    /// Whether this row fails the command, according to its gate.
    pub fails: bool,
    /// The measurements, if there are any.
    pub measured: Option<Box<Compared>>,
}

/// The verdict on a kernel and problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WatchVerdict {
    /// The same code, or the interval excludes a change of the margin or more.
    Same,
    /// Proven faster.
    Faster,
    /// Proven slower.
    Slower,
    /// Neither is proven, and a change of the margin is not excluded.
    Inconclusive,
    /// It is missing from the file.
    New,
    /// It no longer exists.
    Gone,
    /// Its arguments changed, so the two cannot be given the same data.
    Changed,
    /// The saved side does not compile, run or produce the right outputs on this machine.
    Broken,
    /// The current side does not compile, run or produce the right outputs.
    Failed,
    /// It was saved on a kind of device that is not available.
    OtherDevice,
}

impl WatchVerdict {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            WatchVerdict::Same => "same",
            WatchVerdict::Faster => "faster",
            WatchVerdict::Slower => "slower",
            WatchVerdict::Inconclusive => "inconclusive",
            WatchVerdict::New => "new",
            WatchVerdict::Gone => "gone",
            WatchVerdict::Changed => "changed",
            WatchVerdict::Broken => "broken",
            WatchVerdict::Failed => "failed",
            WatchVerdict::OtherDevice => "other device",
        }
    }

    /// Whether it leaves open how the current kernel compares with the saved one.
    pub fn is_open(self) -> bool {
        match self {
            WatchVerdict::Inconclusive
            | WatchVerdict::Gone
            | WatchVerdict::Changed
            | WatchVerdict::Broken
            | WatchVerdict::OtherDevice => true,
            WatchVerdict::Same
            | WatchVerdict::Faster
            | WatchVerdict::Slower
            | WatchVerdict::New
            | WatchVerdict::Failed => false,
        }
    }
}

/// Both sides, measured in the same session.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// Current over saved time in the median process: above 1 is slower.
    pub ratio: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<Interval>,
    /// Number of fresh processes that counted.
    pub processes: u32,
    /// How many of them found the current side faster by more than delta.
    pub faster_in: u32,
    /// Comparisons that share the 1 % of false alarms.
    pub comparisons: u32,
    /// The saved side.
    pub then: Side,
    /// The current side.
    pub now: Side,
    /// The saved time in nanoseconds: for information only.
    pub recorded_ns: Option<u64>,
}

/// One side of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Side {
    /// Its config.
    pub config: String,
    /// The release symbol that was timed.
    pub symbol: String,
    /// The receipt that the device wrote for its launch.
    pub receipt: String,
    /// Its samples in this session.
    pub time: Option<Quartiles>,
}

/// The thresholds that fail a build.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gate {
    /// `--fail-above`: a share, 0.05 for 5 %.
    pub fail_above: Option<f64>,
    /// `--fail-inconclusive`.
    pub fail_inconclusive: bool,
}

impl Gate {
    /// The change that must be excluded for *same*.
    pub fn margin(&self) -> f64 {
        self.fail_above
            .filter(|share| *share > 0.0)
            .unwrap_or(DEFAULT_MARGIN)
    }

    /// Whether a row fails the command.
    ///
    /// With `--fail-above`, a row fails if its kernel is proven slower and the upper end of the interval reaches the
    /// threshold, that is, if a slow-down of that size cannot be excluded. A current kernel that does not work always
    /// fails.
    pub fn fails(&self, row: &WatchRow) -> bool {
        match row.verdict {
            WatchVerdict::Failed => true,
            WatchVerdict::Slower => self.fail_above.is_some_and(|share| {
                let measured = row.measured.as_ref();
                let interval = measured.and_then(|measured| measured.interval);
                // A proof has at least 8 processes, and therefore an interval.
                interval.is_none_or(|interval| interval.high >= 1.0 + share)
            }),
            other => self.fail_inconclusive && other.is_open(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(verdict: WatchVerdict, interval: Option<(f64, f64)>) -> WatchRow {
        let side = Side {
            config: String::new(),
            symbol: String::new(),
            receipt: String::new(),
            time: None,
        };
        WatchRow {
            package: "shop".into(),
            kernel: "add".into(),
            problem: "n=8".into(),
            device: "cpu/a/b".into(),
            verdict,
            reason: String::new(),
            fails: false,
            measured: interval.map(|(low, high)| {
                Box::new(Compared {
                    ratio: Some((low + high) / 2.0),
                    interval: Some(Interval { low, high }),
                    processes: 8,
                    faster_in: 0,
                    comparisons: 1,
                    then: side.clone(),
                    now: side,
                    recorded_ns: None,
                })
            }),
        }
    }

    const FIVE: Gate = Gate {
        fail_above: Some(0.05),
        fail_inconclusive: false,
    };

    #[test]
    fn a_proven_slow_down_fails_where_the_threshold_is_not_excluded() {
        let slower = |low, high| FIVE.fails(&row(WatchVerdict::Slower, Some((low, high))));
        assert!(slower(1.03, 1.06) && slower(1.06, 1.09) && slower(1.01, 1.05));
        assert!(!slower(1.01, 1.04));
        // A verdict that is not proven does not fail, however wide the interval is.
        assert!(!FIVE.fails(&row(WatchVerdict::Inconclusive, Some((0.9, 1.2)))));
        assert!(!Gate::default().fails(&row(WatchVerdict::Slower, Some((1.5, 1.6)))));
    }

    #[test]
    fn only_what_does_not_work_now_fails_by_itself() {
        let all = [
            WatchVerdict::Same,
            WatchVerdict::Faster,
            WatchVerdict::Inconclusive,
            WatchVerdict::New,
            WatchVerdict::Gone,
            WatchVerdict::Changed,
            WatchVerdict::Broken,
            WatchVerdict::OtherDevice,
        ];
        assert!(all.iter().all(|&verdict| !FIVE.fails(&row(verdict, None))));
        assert!(Gate::default().fails(&row(WatchVerdict::Failed, None)));
        let strict = Gate {
            fail_inconclusive: true,
            ..FIVE
        };
        let failing = all
            .iter()
            .filter(|&&verdict| strict.fails(&row(verdict, None)));
        assert_eq!(failing.count(), 5);
    }
}
