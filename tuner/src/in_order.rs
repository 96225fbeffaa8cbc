//! Runs independent work on several threads, and passes the results on in the order of the work.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// Calls `run` for each item, on `threads` threads. `say` receives each result as soon as it and all results before it
/// are known. If `say` returns an error, no further item is begun.
///
/// # Errors
/// The first error of `say`.
pub fn in_order<T: Sync, R: Send, E>(
    items: &[T],
    threads: usize,
    run: impl Fn(&T) -> R + Sync,
    mut say: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let (next, run) = (&AtomicUsize::new(0), &run);
    thread::scope(|scope| {
        let (sender, results) = mpsc::channel();
        for _ in 0..threads {
            let sender = sender.clone();
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { return };
                    if sender.send((index, run(item))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let (mut early, mut said) = (BTreeMap::new(), 0);
        for (index, result) in results {
            early.insert(index, result);
            while let Some(result) = early.remove(&said) {
                said += 1;
                say(result)?;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items_although_later_ones_are_known_first() {
        let items: Vec<usize> = (0..40).collect();
        let meet = Barrier::new(2);
        let run = |&item: &usize| {
            // The first item ends only after the second has begun.
            if item < 2 {
                meet.wait();
            }
            item * item
        };
        let mut said = Vec::new();
        let say = |result| {
            said.push(result);
            Ok::<(), ()>(())
        };
        assert_eq!(in_order(&items, 3, run, say), Ok(()));
        assert_eq!(
            said,
            items.iter().map(|item| item * item).collect::<Vec<_>>()
        );
    }

    #[test]
    fn an_error_ends_the_work() {
        let items: Vec<usize> = (0..1000).collect();
        let say = |result: usize| if result == 3 { Err("enough") } else { Ok(()) };
        assert_eq!(in_order(&items, 2, |&item| item, say), Err("enough"));
        assert_eq!(
            in_order::<usize, usize, ()>(&[], 2, |&item| item, |_| Err(())),
            Ok(())
        );
    }
}
