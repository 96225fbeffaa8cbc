//! The cost of a problem, estimated from the first launch of its baseline. A budget that cannot pay for it is noticed at
//! that launch, not after the budget is spent.

use std::cell::Cell;
use std::time::{Duration, Instant};

use kiln_lab::worker::WorkerError;
use kiln_spec::time::Nanoseconds;

/// Number of launches of the baseline that the first trial of a task needs: to verify and time the baseline, and to
/// verify and race a config that is as fast as the baseline.
const LAUNCHES_OF_A_TRIAL: u32 = 32;

/// Number of launches of the baseline that a small search and a proof need.
const LAUNCHES_OF_A_SEARCH: u32 = 64;

/// Time that a run needs in addition, to compile, to check small problems, and to bake.
const BESIDE_LAUNCHES: Duration = Duration::from_secs(15);

/// Watches the first launches of a task.
pub(super) struct Cost<'a> {
    /// The end of the run; `None` if it has no time limit.
    until: Option<Instant>,
    /// Receives a line as soon as a launch shows that the budget is too small for the problem.
    say: &'a dyn Fn(&str),
    start: Instant,
    is_compiled: Cell<bool>,
    launch: Cell<Duration>,
}

impl Cost<'_> {
    /// Creates a watch on a run that ends at `until`.
    pub fn new(until: Option<Instant>, say: &dyn Fn(&str)) -> Cost<'_> {
        Cost {
            until,
            say,
            start: Instant::now(),
            is_compiled: Cell::new(false),
            launch: Cell::new(Duration::ZERO),
        }
    }

    /// Notes that the compile of the baseline has ended.
    pub fn baseline_is_compiled(&self) {
        self.is_compiled.set(true);
    }

    /// Judges a launch that took `ns` nanoseconds.
    ///
    /// # Errors
    /// If too little time remains for a single trial. The next run could not go on from anything.
    pub fn judge(&self, ns: u64) -> Result<(), WorkerError> {
        let now = Instant::now();
        self.judge_at(
            Duration::from_nanos(ns),
            self.until.map(|until| until.saturating_duration_since(now)),
        )
    }

    fn judge_at(&self, launch: Duration, left: Option<Duration>) -> Result<(), WorkerError> {
        let known = self.launch.get();
        self.launch.set(known.max(launch));
        let Some(left) = left else { return Ok(()) };
        // The time that remains was compared with a launch of this length before.
        if launch <= known.saturating_mul(3) / 2 {
            return Ok(());
        }
        let too_long = launch.saturating_mul(LAUNCHES_OF_A_TRIAL) > left;
        if too_long || needed(launch) > left {
            (self.say)(&self.text());
        }
        match too_long {
            true => Err(WorkerError::OutOfTime),
            false => Ok(()),
        }
    }

    /// What the problem needs, in words.
    pub fn text(&self) -> String {
        let launch = self.launch.get();
        if launch.is_zero() {
            let elapsed = self.start.elapsed();
            let (what, other) = match self.is_compiled.get() {
                true => ("the reference or the first launch of the baseline", ""),
                false => (
                    "the compile of the baseline",
                    ", or another compiler (KILN_CXX)",
                ),
            };
            return format!(
                "in {} s, {what} did not end: a run needs `--budget {}` or more{other}",
                elapsed.as_secs(),
                in_words(elapsed.saturating_mul(10))
            );
        }
        format!(
            "one launch takes {}: to verify and time this problem, a run needs about `--budget {}`",
            Nanoseconds::from(launch),
            in_words(needed(launch))
        )
    }
}

/// The time that a run of one problem needs if a launch of the baseline takes `launch`.
fn needed(launch: Duration) -> Duration {
    launch.saturating_mul(LAUNCHES_OF_A_SEARCH) + BESIDE_LAUNCHES
}

/// A time as a value of `--budget`, rounded up.
fn in_words(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{}s", (seconds + 1).next_multiple_of(10)),
        seconds => format!("{}m", seconds.div_ceil(60)),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Whether a task goes on after a launch, and the lines that it printed.
    fn judged(launch: Duration, left: Option<Duration>) -> (bool, Vec<String>) {
        let said = RefCell::new(Vec::new());
        let say = |line: &str| said.borrow_mut().push(line.to_owned());
        let goes_on = Cost::new(None, &say).judge_at(launch, left).is_ok();
        (goes_on, said.into_inner())
    }

    #[test]
    fn a_budget_that_is_too_small_for_a_trial_ends_the_task_at_its_first_launch() {
        let (goes_on, said) = judged(10 * SECOND, Some(50 * SECOND));
        assert!(!goes_on);
        let [line] = &said[..] else {
            panic!("{said:?}")
        };
        assert!(line.contains("one launch takes 10 s"), "{line}");
        assert!(line.contains("`--budget 11m`"), "{line}");
    }

    #[test]
    fn a_budget_that_is_too_small_for_a_proof_is_told_and_the_task_goes_on() {
        let (goes_on, said) = judged(SECOND, Some(50 * SECOND));
        assert!(goes_on);
        assert!(said[0].contains("`--budget 80s`"), "{said:?}");
    }

    #[test]
    fn a_task_that_went_on_is_not_ended_by_a_later_launch_of_the_same_length() {
        let said = RefCell::new(0);
        let say = |_: &str| *said.borrow_mut() += 1;
        let cost = Cost::new(None, &say);
        assert!(cost.judge_at(2 * SECOND, Some(65 * SECOND)).is_ok());
        assert!(cost.judge_at(2 * SECOND, Some(30 * SECOND)).is_ok());
        assert_eq!(*said.borrow(), 1);
        assert!(cost.judge_at(4 * SECOND, Some(30 * SECOND)).is_err());
    }

    #[test]
    fn a_run_that_ends_before_the_first_launch_says_what_took_its_time() {
        let cost = Cost::new(None, &|_| ());
        let compiling = cost.text();
        assert!(
            compiling.contains("the compile of the baseline did not end"),
            "{compiling}"
        );
        assert!(compiling.contains("KILN_CXX"), "{compiling}");
        cost.baseline_is_compiled();
        let launching = cost.text();
        assert!(
            launching.contains("the first launch of the baseline"),
            "{launching}"
        );
        assert!(!launching.contains("KILN_CXX"), "{launching}");
    }

    #[test]
    fn a_fast_baseline_and_a_run_without_a_budget_say_nothing() {
        let quiet = (true, Vec::new());
        assert_eq!(judged(SECOND / 10, Some(50 * SECOND)), quiet);
        assert_eq!(judged(60 * SECOND, None), quiet);
    }
}
