//! Memory and modules that were freed, but that a live recording, or work that could not be waited for, may still use.

use std::any::Any;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Objects of one device that were freed but must not be dropped yet.
#[derive(Default)]
pub(crate) struct Freed(Mutex<WaitingMemory>);

#[derive(Default)]
struct WaitingMemory {
    /// Number of live recordings, including recordings in progress.
    recordings: usize,
    kept: Vec<Box<dyn Any + Send>>,
}

impl Freed {
    fn lock(&self) -> MutexGuard<'_, WaitingMemory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops an object after nothing uses it any more. `wait` waits for the device's work and returns whether that
    /// succeeded.
    pub fn free(&self, what: Box<dyn Any + Send>, wait: impl FnOnce() -> bool) {
        let mut waiting = self.lock();
        waiting.kept.push(what);
        waiting.drop_kept(wait);
    }

    /// Registers the beginning of a recording. Until the recording is dropped, no object is dropped.
    pub fn recording_begins(&self) {
        self.lock().recordings += 1;
    }

    /// Registers that a recording was dropped. Must be called once for each recording that began. `wait` has the same
    /// meaning as in [`Self::free`].
    pub fn recording_is_gone(&self, wait: impl FnOnce() -> bool) {
        let mut waiting = self.lock();
        waiting.recordings = waiting.recordings.saturating_sub(1);
        waiting.drop_kept(wait);
    }
}

impl WaitingMemory {
    /// Drops the stored objects if nothing uses them any more. Kiln cannot wait for the device's work while another
    /// library records on the device, or after a kernel broke the device. The objects are then kept until the next
    /// call.
    fn drop_kept(&mut self, wait: impl FnOnce() -> bool) {
        if self.recordings == 0 && !self.kept.is_empty() && wait() {
            self.kept.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn nothing_is_dropped_while_a_recording_lives_or_work_cannot_be_waited_for() {
        let (freed, memory) = (Freed::default(), Arc::new(()));
        let users = || Arc::strong_count(&memory) - 1;
        freed.recording_begins();
        freed.recording_begins();
        freed.free(Box::new(memory.clone()), || true);
        freed.recording_is_gone(|| true);
        assert_eq!(users(), 1, "one recording is alive");
        freed.recording_is_gone(|| false);
        assert_eq!(users(), 1, "its work may still run");
        freed.free(Box::new(memory.clone()), || true);
        assert_eq!(users(), 0);
        freed.recording_is_gone(|| panic!("there is nothing to wait for"));
    }
}
