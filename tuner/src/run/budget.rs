//! Divides the time of a run among its tasks.

use std::time::{Duration, Instant};

use crate::run::agenda::Turn;
use kiln_measure::wealth::FAR;

/// The time limit of a run, and the time at which the run began.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    start: Instant,
    total: Option<Duration>,
}

/// The data from which a task's slice of the run's time is computed.
#[derive(Clone, Copy, Debug)]
pub struct Share<'a> {
    /// The time of the run.
    pub budget: &'a Budget,
    /// The task's turn, which contains its weight.
    pub turn: Turn,
    /// Mean time that earlier tasks took before their search began, for compiling and checking the baseline.
    pub preparation: Duration,
}

impl Share<'_> {
    /// The slice of a task whose search begins now. The preparation of the task's baseline is not part of the slice.
    pub fn slice(&self) -> Slice {
        // The tasks after this one must still prepare their baselines.
        let behind = u32::try_from(self.turn.behind).unwrap_or(u32::MAX);
        let needed = self.preparation.saturating_mul(behind);
        let mut slice = self
            .budget
            .slice_of_rest(needed, self.turn.weight, self.turn.shares());
        if let (true, Some(until)) = (self.turn.again, slice.confirm_until) {
            let now = Instant::now();
            let share = until.saturating_duration_since(now);
            slice.search_until = Some(now + share.mul_f64(SEARCH_SHARE_AGAIN));
        }
        slice
    }
}

/// The times at which a task must stop searching and must stop confirming. `None` means no limit.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    /// After this time, no batch of configs begins.
    pub search_until: Option<Instant>,
    /// After this time, no confirming process begins.
    pub confirm_until: Option<Instant>,
    /// Like `confirm_until`, for a finalist that was much faster than the baseline in the race. Its proof needs only a
    /// few more processes, and a proof is worth more than the progress that another task would make in that time.
    pub overtime_until: Option<Instant>,
}

/// Fraction of a task's time that is used for searching. The rest is used to prove the finalist.
const SEARCH_SHARE: f64 = 0.6;

/// Like `SEARCH_SHARE`, for a second turn. It is larger because configs that are clearly faster were proven in the
/// first turn.
const SEARCH_SHARE_AGAIN: f64 = 0.8;

/// Minimum time of a task after its baseline is ready, or a quarter of the budget if that is less. It is enough for a
/// batch of configs and a confirmation. With less time, the run would compile and verify the task's configs, but prove
/// none of them. Tasks for which no time remains as a result are left to the next run.
const MIN_SHARE: Duration = Duration::from_secs(2);

/// A task may use at most this many times its share to confirm a finalist that was much faster than the baseline in the
/// race.
const OVERTIME: u32 = 5;

/// Time after the budget in which launches that began before its end may still end.
const OVERRUN: Duration = Duration::from_secs(10);

/// Time that is reserved for baking at the end of a run.
const RESERVE: Duration = Duration::from_secs(8);

impl Budget {
    /// Creates a budget that starts now; `None` for no limit.
    pub fn start(total: Option<Duration>) -> Budget {
        Budget {
            start: Instant::now(),
            total,
        }
    }

    /// The time at which all workers and compilers are stopped; `None` for no limit.
    pub fn end(&self) -> Option<Instant> {
        self.total.map(|total| self.start + total + OVERRUN)
    }

    /// The slice of the next task: `weight` of the `shares` into which the remaining time is divided, but at least
    /// `MIN_SHARE`. Time that a task does not use goes to the other tasks.
    pub fn slice(&self, weight: usize, shares: usize) -> Slice {
        self.slice_of_rest(Duration::ZERO, weight, shares)
    }

    /// Like [`Self::slice`], after subtracting `needed` from the remaining time.
    fn slice_of_rest(&self, needed: Duration, weight: usize, shares: usize) -> Slice {
        let now = Instant::now();
        let Some(total) = self.total else {
            return Slice {
                search_until: None,
                confirm_until: None,
                overtime_until: None,
            };
        };
        let reserve = RESERVE.min(total / 4);
        let left = (self.start + total)
            .saturating_duration_since(now)
            .saturating_sub(reserve);
        let shared = left.saturating_sub(needed);
        let own = shared.mul_f64(weight as f64 / shares.max(weight).max(1) as f64);
        let share = own.max(MIN_SHARE.min(total / 4)).min(left);
        Slice {
            search_until: Some(now + share.mul_f64(SEARCH_SHARE)),
            confirm_until: Some(now + share),
            overtime_until: Some(now + left.min(share * OVERTIME)),
        }
    }

    /// Whether a second turn would get at least a tenth of the time that one task would get if the whole budget were
    /// divided equally. With less time, the turn would end before it measured anything.
    pub fn is_worth_a_turn(&self, turn: Turn, all_tasks: usize) -> bool {
        let slice = self.slice(turn.weight, turn.shares());
        let (Some(total), Some(left)) = (self.total, slice.confirm_left()) else {
            return true;
        };
        let share = total / u32::try_from(all_tasks.max(1)).unwrap_or(u32::MAX);
        !left.is_zero() && left * 10 >= share
    }

    /// Whether no time remains for another task.
    pub fn is_spent(&self) -> bool {
        self.total
            .is_some_and(|total| self.start.elapsed() + RESERVE.min(total / 4) >= total)
    }
}

impl Slice {
    /// The same slice, but the search ends early enough that the time `needed` for confirming remains before the
    /// overtime ends. At least a quarter of the slice remains for searching, unless the search had less time already.
    pub fn keep_for_confirming(mut self, needed: Duration) -> Slice {
        let ends = (self.search_until, self.confirm_until, self.overtime_until);
        if let (Some(search_until), Some(confirm_until), Some(overtime_until)) = ends {
            let now = Instant::now();
            let least = now + confirm_until.saturating_duration_since(now) / 4;
            let latest = overtime_until.checked_sub(needed).unwrap_or(now);
            self.search_until = Some(search_until.min(latest).max(least.min(search_until)));
        }
        self
    }

    /// Whether another batch of configs may begin.
    pub fn may_search(&self) -> bool {
        self.search_until.is_none_or(|end| Instant::now() < end)
    }

    /// Time that remains for confirming a config that was `speedup` times as fast as the baseline in the race; `None`
    /// for no limit. A config that was much faster may use overtime.
    pub fn confirm_left_of(&self, speedup: f64) -> Option<Duration> {
        if speedup <= 1.0 + FAR {
            return self.confirm_left();
        }
        self.overtime_until
            .map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// Time that remains for confirming; `None` for no limit.
    pub fn confirm_left(&self) -> Option<Duration> {
        self.confirm_until
            .map(|end| end.saturating_duration_since(Instant::now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A second turn of this weight, which leaves `behind` tasks waiting.
    fn again(weight: usize, behind: usize) -> Turn {
        Turn {
            task: 0,
            number: 0,
            again: true,
            weight,
            behind,
        }
    }

    #[test]
    fn every_task_gets_a_part_and_no_more_than_there_is() {
        let budget = Budget::start(Some(Duration::from_secs(300)));
        // The expected value lies between two readings of the clock, so a busy machine does not affect the test.
        let check = |weight, shares, part: &dyn Fn(Duration) -> Duration| {
            let before = Instant::now();
            let slice = budget.slice(weight, shares);
            let after = Instant::now();
            let until = slice.confirm_until.unwrap();
            let left = |at: Instant| Duration::from_secs(300) - RESERVE - (at - budget.start);
            let rounding = Duration::from_micros(1);
            assert!(until.saturating_duration_since(after) <= part(left(before)) + rounding);
            assert!(until - before + rounding >= part(left(after)));
            assert!(slice.search_until.unwrap() < until);
        };
        check(1, 5, &|left| left / 5);
        check(3, 7, &|left| left.mul_f64(3.0 / 7.0));
        check(1, 1_000, &|_| MIN_SHARE);
        assert!(budget.is_worth_a_turn(again(1, 4), 5) && budget.is_worth_a_turn(again(1, 9), 2));
        assert!(!budget.is_worth_a_turn(again(1, 40), 2));
        // The last task gets all that is left, whatever its weight is.
        assert!(budget.is_worth_a_turn(again(16, 0), 1));
        assert!(Budget::start(None).is_worth_a_turn(again(1, 0), 1));
        assert!(!Budget::start(Some(Duration::ZERO)).is_worth_a_turn(again(1, 0), 1_000));
        assert!(Budget::start(None).slice(1, 1).may_search());
        assert!(!Budget::start(Some(Duration::ZERO)).slice(1, 1).may_search());
    }
}
