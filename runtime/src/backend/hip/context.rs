//! One device of the runtime: its streams, and what may not be freed yet.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use crate::device::StreamHandle;
use crate::error::DeviceError;

use super::ffi::{OwnedStream, Place};
use super::status::Failure;
use super::timer::Timer;
use crate::backend::recorded_streams::RecordedStreams;

/// What memory, modules and launches of one device share.
///
/// A [`StreamHandle`] is a number of a table here, never an address: one that was made up or closed is an error.
pub(super) struct Context {
    /// The runtime and the device's number there.
    pub place: Place,
    /// The [`crate::Device::index`] of the device.
    pub index: u32,
    /// What timing keeps.
    pub timer: Timer,
    /// The streams that are being recorded.
    pub recorded: RecordedStreams,
    streams: RwLock<BTreeMap<u64, Arc<OwnedStream>>>,
    next_stream: AtomicU64,
    freed: Mutex<Freed>,
}

/// What was freed while something may still use it: recordings that are alive, work that could not be waited for.
#[derive(Default)]
struct Freed {
    /// Recordings that are alive, those included that have only begun.
    recordings: usize,
    kept: Vec<Box<dyn Any + Send>>,
}

impl Context {
    /// A device with its default stream.
    pub fn new(place: Place) -> Context {
        let default = Arc::new(OwnedStream::default_of(&place));
        Context {
            place,
            index: crate::devices::next_index(),
            timer: Timer::default(),
            recorded: RecordedStreams::default(),
            streams: RwLock::new(BTreeMap::from([(StreamHandle::DEFAULT.0, default)])),
            next_stream: AtomicU64::new(StreamHandle::DEFAULT.0 + 1),
            freed: Mutex::default(),
        }
    }

    /// The stream behind a handle.
    pub fn stream(&self, handle: StreamHandle) -> Result<Arc<OwnedStream>, DeviceError> {
        let streams = self.streams.read().unwrap_or_else(PoisonError::into_inner);
        let found = streams.get(&handle.0).cloned();
        found.ok_or_else(|| DeviceError::NotFound {
            what: format!("stream {}", handle.0),
            text: "it was closed, or is of another device".into(),
        })
    }

    /// Takes a stream into the table. No number is given twice.
    pub fn add_stream(&self, stream: OwnedStream) -> StreamHandle {
        let handle = StreamHandle(self.next_stream.fetch_add(1, Ordering::Relaxed));
        let mut streams = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        streams.insert(handle.0, Arc::new(stream));
        handle
    }

    /// Takes a stream out of the table; the default one stays.
    pub fn remove_stream(&self, handle: StreamHandle) -> Option<Arc<OwnedStream>> {
        if handle == StreamHandle::DEFAULT {
            return None;
        }
        let mut streams = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        streams.remove(&handle.0)
    }

    /// Waits for everything on the device.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        let waited = self.place.hip.select(self.place.ordinal);
        waited
            .and_then(|()| self.place.hip.synchronize())
            .map_err(Failure::error)
    }

    fn freed(&self) -> MutexGuard<'_, Freed> {
        self.freed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops memory or a module once nothing uses it: after the work queued so far, and after the last recording.
    pub fn free(&self, what: Box<dyn Any + Send>) {
        let mut freed = self.freed();
        freed.kept.push(what);
        self.drop_kept(freed);
    }

    /// Drops what is kept, where nothing uses it any more. Where that cannot be waited for, since another library records on
    /// this device or a kernel broke it, it is kept until the next time.
    fn drop_kept(&self, mut freed: MutexGuard<'_, Freed>) {
        if freed.recordings == 0 && !freed.kept.is_empty() && self.synchronize().is_ok() {
            freed.kept.clear();
        }
    }

    /// Notes that a recording begins: nothing is freed until it is gone.
    pub fn recording_begins(&self) {
        self.freed().recordings += 1;
    }

    /// Notes that a recording is gone: one for each that began.
    pub fn recording_is_gone(&self) {
        let mut freed = self.freed();
        freed.recordings = freed.recordings.saturating_sub(1);
        self.drop_kept(freed);
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("ordinal", &self.place.ordinal)
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}
