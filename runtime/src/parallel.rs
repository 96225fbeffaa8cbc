//! Distributes long work on slices over the cores.
//!
//! Ranges do not depend on the number of cores, so results per range do not depend on the machine.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Elements per range.
const RANGE: usize = 1 << 18;

/// The results of `each` for every range of `0..len`, in order.
pub(crate) fn ranges<R: Send>(len: usize, each: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    let count = len.div_ceil(RANGE);
    let range = |number: usize| number * RANGE..len.min((number + 1) * RANGE);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    if count <= 1 || threads == 1 {
        return (0..count).map(|number| each(range(number))).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return done;
            }
            done.push((number, each(range(number))));
        }
    };
    let mut all: Vec<(usize, R)> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(count)).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for other in others {
            match other.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_unstable_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, done)| done).collect()
}

/// The bytes of `len` elements of `size` bytes each; `each` writes one range at a time.
pub(crate) fn bytes(
    len: usize,
    size: usize,
    each: impl Fn(Range<usize>, &mut [u8]) + Sync,
) -> Vec<u8> {
    let mut all = vec![0; len * size];
    let parts: Vec<_> = all
        .chunks_mut(RANGE * size.max(1))
        .map(std::sync::Mutex::new)
        .collect();
    ranges(len, |range| {
        // Only this thread uses this part, so its lock cannot be poisoned.
        let mut part = parts[range.start / RANGE]
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        each(range, &mut part);
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
        let written = bytes(len, 2, |range, out| {
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
