//! Shows the progress of a push or a pull.

use std::sync::OnceLock;

use kiln_fleet::share::{Progress, Report};

use crate::progress::Counter;

/// Runs an operation that reports its progress, and shows that progress. `what` is the unit of the counter.
pub(super) fn reporting<T>(what: &'static str, run: impl FnOnce(Report<'_>) -> T) -> T {
    let counter: OnceLock<Counter> = OnceLock::new();
    let result = run(&|progress| match progress {
        Progress::Planned(total) => {
            counter.get_or_init(|| Counter::new(what, total as u64));
        }
        Progress::Done(steps) => {
            if let Some(counter) = counter.get() {
                (0..steps).for_each(|_| counter.step());
            }
        }
    });
    if let Some(counter) = counter.get() {
        counter.finish();
    }
    result
}
