//! Distributes long work on slices over the cores.
//!
//! The bounds of the ranges do not depend on the number of cores. A result that is computed per range is therefore the
//! same on every machine.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// Elements per range.
const RANGE: usize = 1 << 18;

/// Calls `each` for every range of `0..len`, on all cores. Returns the results in the order of the ranges.
pub(crate) fn ranges<R: Send>(len: usize, each: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    let results: Vec<Mutex<Option<R>>> =
        (0..len.div_ceil(RANGE)).map(|_| Mutex::default()).collect();
    on_all_cores(results.len(), &|number| {
        let result = each(number * RANGE..len.min((number + 1) * RANGE));
        *own(&results[number]) = Some(result);
    });
    let done =
        |result: Mutex<Option<R>>| result.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_iter().filter_map(done).collect()
}

/// Calls `work` once with every number below `count`. The function is not generic, so a program that links this crate
/// compiles it once instead of once per closure.
fn on_all_cores(count: usize, work: &(dyn Fn(usize) + Sync)) {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    if count <= 1 || threads == 1 {
        return (0..count).for_each(work);
    }
    let next = AtomicUsize::new(0);
    let take_turns = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            work(number);
        }
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(count))
            .map(|_| scope.spawn(take_turns))
            .collect();
        take_turns();
        for other in others {
            if let Err(panic) = other.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
}

/// Locks the output of one range. Only the current thread uses it, so the lock can be neither contended nor poisoned.
fn own<T>(part: &Mutex<T>) -> MutexGuard<'_, T> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The bytes of `len` elements of `size` bytes each. `each` writes the bytes of one range at a time. Like
/// [`on_all_cores`], this function is not generic, so it is compiled once instead of once per element type.
pub(crate) fn bytes(
    len: usize,
    size: usize,
    each: &(dyn Fn(Range<usize>, &mut [u8]) + Sync),
) -> Vec<u8> {
    let mut all = vec![0; len * size];
    let parts: Vec<_> = all
        .chunks_mut(RANGE * size.max(1))
        .map(Mutex::new)
        .collect();
    ranges(len, |range| {
        let number = range.start / RANGE;
        each(range, &mut own(&parts[number]));
    });
    drop(parts);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_everything_once_and_come_back_in_order() {
        for len in [0, 1, RANGE - 1, RANGE, RANGE + 1, 9 * RANGE + 7] {
            let covered: Vec<usize> = ranges(len, |range| range).into_iter().flatten().collect();
            assert!(covered.into_iter().eq(0..len), "{len}");
        }
    }

    #[test]
    fn bytes_are_written_where_their_elements_are() {
        let len = 3 * RANGE + 5;
        let written = bytes(len, 2, &|range, out| {
            for (index, pair) in range.zip(out.chunks_exact_mut(2)) {
                pair.copy_from_slice(&(index as u16).to_le_bytes());
            }
        });
        let expected: Vec<u8> = (0..len)
            .flat_map(|index| (index as u16).to_le_bytes())
            .collect();
        assert!(written == expected);
    }
}
