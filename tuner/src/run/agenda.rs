//! The order in which a run works on its tasks, and the share of the remaining time that each task gets. A turn is one
//! period in which the run works on a task.
//!
//! The order is breadth first, so that every kernel has a decision before any kernel has a second one:
//!
//! 1. The first problem of each kernel.
//! 2. A second turn for those of these problems that are still undecided.
//! 3. The other problems. Problems of kernels for which a much faster config is proven come before those of other
//!    kernels.
//! 4. A second turn for all tasks that are still undecided.
//! 5. A second turn for tasks with a proven config whose search ran out of time.

use std::collections::{BTreeMap, VecDeque};

/// Maximum number of turns per task in a run. Every turn may wrongly prove a config, so
/// [`claims_of`](super::turns::claims_of) counts each turn as one claim.
pub const MAX_TURNS: usize = 2;

/// The weight of an undecided task in its second turn: it gets as much time as this many other tasks. Such a task is
/// undecided because its speed-up is small, and a small speed-up takes many configs to find and many processes to
/// prove.
const UNDECIDED_WEIGHT: usize = 16;

/// The state of a task after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskStanding {
    /// The baseline is kept or a config is proven, and the search is complete.
    Done {
        /// Whether a config is proven that is much faster than the baseline.
        large: bool,
    },
    /// A config is proven, but the search is not complete.
    Proven {
        /// Whether the config is much faster than the baseline.
        large: bool,
    },
    /// The time of the task ended before a decision.
    Undecided,
    /// The time of the run ended before the task began.
    NotBegun,
}

/// The next turn of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The index of the task.
    pub task: usize,
    /// The index of the task in the order in which the tasks had their first turn.
    pub number: usize,
    /// Whether the task had an earlier turn.
    pub again: bool,
    /// The length of this turn, in shares of the remaining time (see [`Turn::shares`]).
    pub weight: usize,
    /// Number of tasks that wait for a turn, so they share the remaining time with this one. During a first turn, and
    /// as long as any task has not had a turn, only the tasks without a turn are counted. After that, the tasks that
    /// will get a second turn are counted.
    pub behind: usize,
}

impl Turn {
    /// The number of shares into which the remaining time is divided. This turn gets `weight` of them.
    pub fn shares(&self) -> usize {
        self.weight + self.behind
    }
}

/// The tasks of a run, in the order of their turns.
#[derive(Debug)]
pub struct Agenda {
    kernels: Vec<String>,
    /// Tasks that have not had a turn, and whether each is the first problem of its kernel.
    fresh: VecDeque<(usize, bool)>,
    /// The state of each task that has had a turn.
    standings: BTreeMap<usize, TaskStanding>,
    turns: Vec<usize>,
    numbers: Vec<usize>,
}

impl Agenda {
    /// Creates the agenda. `kernels` contains the name of each task's kernel.
    pub fn new(kernels: Vec<String>) -> Agenda {
        let mut agenda = Agenda {
            fresh: VecDeque::new(),
            standings: BTreeMap::new(),
            turns: vec![0; kernels.len()],
            numbers: vec![0; kernels.len()],
            kernels,
        };
        let tasks = (0..agenda.kernels.len()).map(|task| (task, agenda.is_first(task)));
        let (firsts, others): (Vec<_>, Vec<_>) = tasks.partition(|(_, first)| *first);
        agenda.fresh = firsts.into_iter().chain(others).collect();
        agenda
    }

    /// The next turn; `None` if no task needs another turn.
    pub fn next_turn(&mut self) -> Option<Turn> {
        let (task, weight) = self.choose()?;
        let again = self.turns[task] > 0;
        if !again {
            self.numbers[task] = self.turns.iter().filter(|turns| **turns > 0).count();
        }
        self.turns[task] += 1;
        Some(Turn {
            task,
            number: self.numbers[task],
            again,
            weight,
            behind: self.behind(again),
        })
    }

    /// Computes [`Turn::behind`] for a first turn, or for a second turn if `again` is set.
    fn behind(&self, again: bool) -> usize {
        if !again || !self.fresh.is_empty() {
            return self.fresh.len();
        }
        let waits = |(task, standing): (&usize, &TaskStanding)| {
            self.turns[*task] < MAX_TURNS
                && matches!(
                    standing,
                    TaskStanding::Undecided | TaskStanding::Proven { .. }
                )
        };
        self.standings.iter().filter(|one| waits(*one)).count()
    }

    /// Selects the next task and its weight.
    fn choose(&mut self) -> Option<(usize, usize)> {
        let is_undecided = |standing| standing == TaskStanding::Undecided;
        let is_unfinished = |standing| matches!(standing, TaskStanding::Proven { .. });
        let undecided = match self.fresh.front() {
            // The first problems of all kernels come first.
            Some((_, true)) => None,
            Some((_, false)) => {
                self.again(|task, standing| is_undecided(standing) && self.is_first(task))
            }
            None => self.again(|_, standing| is_undecided(standing)),
        };
        if let Some(task) = undecided {
            return Some((task, UNDECIDED_WEIGHT));
        }
        let fresh = self.fresh.pop_front().map(|(task, _)| task);
        let task = fresh.or_else(|| self.again(|_, standing| is_unfinished(standing)))?;
        Some((task, 1))
    }

    /// Records the state of a task after its turn.
    pub fn note(&mut self, task: usize, standing: TaskStanding) {
        self.standings.insert(task, standing);
        let gained = matches!(
            standing,
            TaskStanding::Proven { large: true } | TaskStanding::Done { large: true }
        );
        if !gained && standing != TaskStanding::NotBegun {
            // The other problems of this kernel are unlikely to gain much, so they move to the end.
            let kernel = &self.kernels[task];
            let (later, sooner): (Vec<_>, Vec<_>) = self
                .fresh
                .drain(..)
                .partition(|(other, _)| self.kernels[*other] == *kernel);
            self.fresh = sooner.into_iter().chain(later).collect();
        }
    }

    /// A task that matches `wanted` and may have another turn.
    fn again(&self, wanted: impl Fn(usize, TaskStanding) -> bool) -> Option<usize> {
        let has_turn = |task: usize| self.turns[task] < MAX_TURNS;
        let mut known = self
            .standings
            .iter()
            .map(|(task, standing)| (*task, *standing));
        let found = known.find(|(task, standing)| has_turn(*task) && wanted(*task, *standing));
        found.map(|(task, _)| task)
    }

    /// Whether a task is the first problem of its kernel.
    fn is_first(&self, task: usize) -> bool {
        !self.kernels[..task].contains(&self.kernels[task])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: TaskStanding = TaskStanding::Proven { large: true };
    const DONE: TaskStanding = TaskStanding::Done { large: false };

    /// The order of the tasks if `end` determines the state after each turn.
    fn order(kernels: &str, end: impl Fn(usize, bool) -> TaskStanding) -> Vec<usize> {
        let mut agenda = Agenda::new(kernels.split(' ').map(str::to_owned).collect());
        let mut order = Vec::new();
        while let Some(turn) = agenda.next_turn() {
            order.push(turn.task);
            agenda.note(turn.task, end(turn.task, turn.again));
        }
        order
    }

    #[test]
    fn every_kernel_is_decided_before_any_has_a_second_problem() {
        let undecided = |task: usize, again: bool| match (task, again) {
            (1, false) => TaskStanding::Undecided,
            _ => DONE,
        };
        assert_eq!(order("a b c a b c", undecided), [0, 1, 2, 1, 3, 5, 4]);
    }

    #[test]
    fn other_problems_of_kernels_that_gained_little_come_last() {
        let gains = |task: usize, _: bool| match task {
            1 => DONE,
            _ => LARGE,
        };
        assert_eq!(order("a b a b a", gains), [0, 1, 2, 4, 3, 0, 2, 3, 4]);
    }

    #[test]
    fn other_problems_of_a_kernel_that_gained_much_come_first_although_its_search_is_complete() {
        let gains = |task: usize, _: bool| match task {
            1 => TaskStanding::Done { large: true },
            _ => DONE,
        };
        assert_eq!(order("a b a b", gains), [0, 1, 3, 2]);
    }

    #[test]
    fn what_ran_out_of_time_is_taken_up_once_more_and_what_is_undecided_first() {
        let ends = |task: usize, _: bool| match task {
            0 | 2 => LARGE,
            _ => TaskStanding::Undecided,
        };
        assert_eq!(order("a b a b a", ends), [0, 1, 1, 2, 4, 3, 3, 4, 0, 2]);
    }

    #[test]
    fn an_undecided_first_problem_gets_more_of_the_time_that_is_left() {
        let mut agenda = Agenda::new(["a", "b", "a"].map(str::to_owned).to_vec());
        let first = agenda.next_turn().unwrap();
        assert_eq!((first.number, first.weight, first.behind), (0, 1, 2));
        agenda.note(first.task, TaskStanding::Undecided);
        let second = agenda.next_turn().unwrap();
        assert_eq!((second.number, second.behind), (1, 1));
        agenda.note(second.task, LARGE);
        let again = agenda.next_turn().unwrap();
        assert_eq!(
            (
                again.task,
                again.number,
                again.again,
                again.weight,
                again.behind
            ),
            (0, 0, true, UNDECIDED_WEIGHT, 1)
        );
    }

    #[test]
    fn what_is_left_at_the_end_is_shared_among_all_that_are_taken_up_again() {
        let mut agenda = Agenda::new(["a", "b", "c", "d"].map(str::to_owned).to_vec());
        let mut behind = Vec::new();
        while let Some(turn) = agenda.next_turn() {
            behind.push((turn.task, turn.behind));
            let is_done = turn.task == 3 || turn.again;
            agenda.note(turn.task, if is_done { DONE } else { LARGE });
        }
        assert_eq!(
            behind,
            [(0, 3), (1, 2), (2, 1), (3, 0), (0, 2), (1, 1), (2, 0)]
        );
    }

    #[test]
    fn a_task_that_had_no_time_to_begin_is_not_taken_up_again() {
        assert_eq!(order("a b", |_, _| TaskStanding::NotBegun), [0, 1]);
    }
}
