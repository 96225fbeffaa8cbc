//! What a comparison says of each kernel and problem, and which of it fails a build.

use serde::Serialize;

use kiln_measure::interval::Interval;
use kiln_measure::summary::Quartiles;

/// The margin of *same* where no threshold is given: a change of 5 % or more is excluded.
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
    /// The device that the kernel was saved on, or is measured on where it is new.
    pub device: String,
    /// What is said of it.
    pub verdict: WatchVerdict,
    /// Why, or what changed, for people.
    pub reason: String,
    /// Whether this row fails the command, by the gate that was asked for.
    pub fails: bool,
    /// What was measured; `None` where nothing was.
    pub measured: Option<Box<Compared>>,
}

/// What is said of a kernel and problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WatchVerdict {
    /// The same code, or a change of the margin or more is excluded.
    Same,
    /// Proven faster.
    Faster,
    /// Proven slower.
    Slower,
    /// Neither is proven, and a change of the margin is not excluded.
    Inconclusive,
    /// Only now.
    New,
    /// Only then.
    Gone,
    /// Its arguments changed: the two cannot be given the same data.
    Changed,
    /// The saved side does not compile, run or compute what it should here.
    Broken,
    /// The present side does not compile, run or compute what it should.
    Failed,
    /// It was saved on a device of another kind than those that are here.
    OtherDevice,
}

impl WatchVerdict {
    /// As tables have it.
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

/// Both sides, as they were measured in the same session.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// Current over saved time in the median process: above 1 is slower.
    pub ratio: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<Interval>,
    /// Fresh processes that counted.
    pub processes: u32,
    /// Of these, how many found the present side faster by more than delta.
    pub faster_in: u32,
    /// Comparisons that share the 1 % of false alarms.
    pub comparisons: u32,
    /// The saved side.
    pub then: Side,
    /// The present side.
    pub now: Side,
    /// What the saved one took when it was saved, in nanoseconds: for information only.
    pub recorded_ns: Option<u64>,
}

/// One side of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Side {
    /// Its config.
    pub config: String,
    /// The release symbol that was timed.
    pub symbol: String,
    /// What the device wrote about its launch.
    pub receipt: String,
    /// Its samples in this session.
    pub time: Option<Quartiles>,
}

/// What fails a build.
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
    /// A slower kernel fails where it is *proven* slower, and where its interval reaches the threshold, so that a slow-down
    /// of that size is not excluded. A current kernel that does not work always fails.
    pub fn fails(&self, row: &WatchRow) -> bool {
        match row.verdict {
            WatchVerdict::Failed => true,
            WatchVerdict::Slower => self.fail_above.is_some_and(|share| {
                let measured = row.measured.as_ref();
                let interval = measured.and_then(|measured| measured.interval);
                // A proof has at least 8 processes, and they have an interval.
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
        // Not proven is not a failure, however wide the interval is.
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
