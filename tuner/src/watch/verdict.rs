//! The verdicts of `tune compare` on kernels and problems, and the rule for which rows fail the command.

use serde::Serialize;

use kiln_measure::interval::Interval;
use kiln_measure::summary::Quartiles;

/// The margin of the verdict *same* if no threshold is specified: a change of 5 % or more must be excluded.
pub const DEFAULT_MARGIN: f64 = 0.05;

/// A row of `tune compare`: one kernel and problem that is saved, current, or both.
#[derive(Clone, Debug, Serialize)]
pub struct WatchRow {
    /// The name of the package.
    pub package: String,
    /// The name of the kernel.
    pub kernel: String,
    /// The problem, as text.
    pub problem: String,
    /// The device on which the kernel was saved. For a new kernel, the device of the session.
    pub device: String,
    /// The verdict on the kernel and problem.
    pub verdict: WatchVerdict,
    /// The reason for the verdict, or the parts that changed.
    pub reason: String,
    /// Whether this row fails the command.
    pub fails: bool,
    /// The measurements; `None` if nothing was measured.
    pub measured: Option<Box<Compared>>,
}

/// The verdict on a kernel and problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WatchVerdict {
    /// Both sides are the same code, or the interval excludes a change of the margin or more.
    Same,
    /// The current kernel is proven faster.
    Faster,
    /// The current kernel is proven slower.
    Slower,
    /// No difference is proven, and a change of the margin or more is not excluded.
    Inconclusive,
    /// The kernel or problem is missing from the file.
    New,
    /// The saved kernel or problem no longer exists.
    Gone,
    /// The kernel's arguments have changed, so the two sides cannot have the same data.
    Changed,
    /// The saved kernel cannot be read from the file or, on this machine, does not compile, does not run, or has wrong
    /// outputs.
    Broken,
    /// The current kernel does not compile, does not run, or has wrong outputs. This verdict also applies if the
    /// outputs of the two sides differ and no reference shows which side is right.
    Failed,
    /// The kernel was saved on a kind of device that this machine does not have.
    OtherDevice,
}

impl WatchVerdict {
    /// The name of the verdict in tables.
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

    /// Whether the comparison of the current kernel with the saved one has no clear result.
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

/// The times of the saved and the current kernel, measured in the same session.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// The current kernel's time divided by the saved kernel's time, in the median process. Above 1, the current kernel
    /// is slower.
    pub ratio: Option<f64>,
    /// The 95 % interval of the ratio; `None` if too few processes ran.
    pub interval: Option<Interval>,
    /// Number of fresh processes with a valid result.
    pub processes: u32,
    /// Number of these processes in which the current kernel was faster by more than the smallest difference that
    /// counts (delta).
    pub faster_in: u32,
    /// Number of comparisons among which the probability of a false alarm, 1 %, is divided.
    pub comparisons: u32,
    /// The saved kernel.
    pub then: Side,
    /// The current kernel.
    pub now: Side,
    /// The time in nanoseconds when the kernel was saved, for information only.
    pub recorded_ns: Option<u64>,
}

/// The saved or the current kernel in a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Side {
    /// The config, as text.
    pub config: String,
    /// The release symbol that was timed.
    pub symbol: String,
    /// The receipt that the device wrote for the launch, as text.
    pub receipt: String,
    /// The times of the kernel's samples in this session.
    pub time: Option<Quartiles>,
}

/// The thresholds that make rows fail the command.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gate {
    /// The value of `--fail-above` as a fraction: 0.05 for 5 %.
    pub fail_above: Option<f64>,
    /// The value of `--fail-inconclusive`.
    pub fail_inconclusive: bool,
}

impl Gate {
    /// The change that the interval must exclude for the verdict *same*, as a fraction.
    pub fn margin(&self) -> f64 {
        self.fail_above
            .filter(|share| *share > 0.0)
            .unwrap_or(DEFAULT_MARGIN)
    }

    /// Whether a row fails the command.
    ///
    /// With `--fail-above`, a row fails if its kernel is proven slower and the upper end of the interval reaches the
    /// threshold, because a slow-down of that size cannot be excluded. With `--fail-inconclusive`, a row also fails if
    /// its comparison has no clear result. A current kernel that does not work always fails.
    pub fn fails(&self, row: &WatchRow) -> bool {
        match row.verdict {
            WatchVerdict::Failed => true,
            WatchVerdict::Slower => self.fail_above.is_some_and(|share| {
                let measured = row.measured.as_ref();
                let interval = measured.and_then(|measured| measured.interval);
                // A proof needs at least 6 processes, and with that many there is always an interval.
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
        // A row without a proven verdict does not fail, however wide its interval is.
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
