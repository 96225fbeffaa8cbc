//! The streams of one device that are being recorded. They are identified by the driver's own handle, because two of
//! Kiln's streams may be the same stream of the driver.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::{PoisonError, RwLock, RwLockWriteGuard};

use crate::device::DeviceError;

thread_local! {
    /// The innermost call of [`RecordedStreams::unless_recorded`] on this thread.
    static UNRECORDED: Cell<Option<Unrecorded>> = const { Cell::new(None) };
}

/// A stream on which no recording can begin while [`RecordedStreams::unless_recorded`] runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unrecorded {
    /// The address of the [`RecordedStreams`].
    streams: usize,
    stream: u64,
}

/// Restores the previous value of [`UNRECORDED`] on drop.
struct Restore(Option<Unrecorded>);

impl Drop for Restore {
    fn drop(&mut self) {
        UNRECORDED.set(self.0);
    }
}

/// The streams that are being recorded.
#[derive(Debug, Default)]
pub(crate) struct RecordedStreams(RwLock<BTreeSet<u64>>);

impl RecordedStreams {
    /// Calls `begin` to start recording a stream. Returns an error if the stream is already being recorded.
    pub fn begin(
        &self,
        stream: u64,
        begin: impl FnOnce() -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let mut streams = self.write();
        if streams.contains(&stream) {
            let text = "it is being recorded already";
            return Err(DeviceError::internal("recording a stream", text));
        }
        begin()?;
        streams.insert(stream);
        Ok(())
    }

    /// Calls `end` to end recording a stream. If the stream is not being recorded, returns an error without calling
    /// `end`.
    pub fn end<T>(
        &self,
        stream: u64,
        end: impl FnOnce() -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        let mut streams = self.write();
        if !streams.remove(&stream) {
            let text = "it was not being recorded";
            return Err(DeviceError::internal("ending a recording", text));
        }
        end()
    }

    /// Calls a function during which no recording of the stream can begin. If the stream is being recorded, this
    /// instead returns the error that `what` is not supported.
    pub fn unless_recorded(
        &self,
        stream: u64,
        what: &str,
        act: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let unrecorded = Unrecorded {
            streams: std::ptr::from_ref(self).addr(),
            stream,
        };
        // A thread that locks a lock for reading a second time waits forever if another thread waits to write.
        if UNRECORDED.get() == Some(unrecorded) {
            return act();
        }
        let streams = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if streams.contains(&stream) {
            return Err(DeviceError::Unsupported { what: what.into() });
        }
        let _outer = Restore(UNRECORDED.replace(Some(unrecorded)));
        act()
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeSet<u64>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    /// A launch with borrowed memory and constants asks twice whether its stream is recorded.
    #[test]
    fn a_question_inside_a_question_does_not_wait_for_a_recording_that_wants_to_begin() {
        let streams = RecordedStreams::default();
        let (asked, begin) = mpsc::channel();
        thread::scope(|scope| {
            let streams = &streams;
            scope.spawn(move || {
                begin.recv().unwrap();
                streams.begin(7, || Ok(())).unwrap();
            });
            let mut inner = || Ok(());
            let mut outer = || {
                asked.send(()).unwrap();
                // Usually, the other thread waits for the lock after this time. If not, the test passes anyway.
                thread::sleep(Duration::from_millis(50));
                streams.unless_recorded(1, "a fill", &mut inner)
            };
            streams
                .unless_recorded(1, "borrowed memory", &mut outer)
                .unwrap();
        });
        let recorded = streams.unless_recorded(7, "a fill", &mut || Ok(()));
        let text = recorded.unwrap_err().to_string();
        assert!(text.contains("a fill"), "{text}");
    }
}
