//! [`Passed`], the outputs that were compared and are within tolerance.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The bytes of each output that passed the last comparison, with their largest error as a fraction of its bound. The
/// key of an output is the index of its argument.
///
/// Most launches return the same bytes as the launch before. To compare bytes with bytes takes a fraction of the time
/// in which numbers are compared with their bounds.
#[derive(Debug, Default)]
pub(super) struct Passed(Mutex<BTreeMap<usize, (Vec<u8>, f64)>>);

impl Passed {
    /// The largest error of these bytes, if they are the ones that passed the last comparison.
    pub(super) fn ratio(&self, argument: usize, bytes: &[u8]) -> Option<f64> {
        let passed = self.own();
        let (known, ratio) = passed.get(&argument)?;
        (known == bytes).then_some(*ratio)
    }

    /// Remembers bytes that passed.
    pub(super) fn insert(&self, argument: usize, bytes: Vec<u8>, ratio: f64) {
        self.own().insert(argument, (bytes, ratio));
    }

    /// Forgets an output, because other values are expected.
    pub(super) fn forget(&self, argument: usize) {
        self.own().remove(&argument);
    }

    fn own(&self) -> MutexGuard<'_, BTreeMap<usize, (Vec<u8>, f64)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A copy has compared nothing yet.
impl Clone for Passed {
    fn clone(&self) -> Passed {
        Passed::default()
    }
}

/// What was compared is not part of what is expected.
impl PartialEq for Passed {
    fn eq(&self, _: &Passed) -> bool {
        true
    }
}
