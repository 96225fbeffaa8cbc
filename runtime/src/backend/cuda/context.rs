//! What everything on one device shares: the driver's context, its streams, and what may not be freed yet.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::device::{DeviceError, StreamHandle};

use super::error::of_call;
use super::ffi::{Context, RawStream};
use super::stream::Streams;
use super::timer::Timer;
use crate::backend::recorded_streams::RecordedStreams;

/// The context of one device in this process.
pub(super) struct CudaContext {
    /// The driver's own.
    pub raw: Arc<Context>,
    /// The open streams.
    pub streams: Streams,
    /// Those that are being recorded.
    pub recorded: RecordedStreams,
    /// The [`crate::Device::index`] of the device.
    pub device_index: u32,
    /// What timing keeps.
    pub timer: Timer,
    freed: Mutex<Freed>,
}

/// What was freed while something may still use it: recordings that are alive, work that could not be waited for.
#[derive(Default)]
struct Freed {
    recordings: usize,
    kept: Vec<Box<dyn Any + Send>>,
}

impl CudaContext {
    pub fn new(raw: Arc<Context>, device_index: u32) -> CudaContext {
        CudaContext {
            raw,
            streams: Streams::new(),
            recorded: RecordedStreams::default(),
            device_index,
            timer: Timer::default(),
            freed: Mutex::default(),
        }
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
        if freed.recordings == 0 && !freed.kept.is_empty() && self.raw.synchronize().is_ok() {
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

    /// Waits for one stream.
    pub fn synchronize_stream(&self, stream: StreamHandle) -> Result<(), DeviceError> {
        let stream = self.streams.get(stream)?;
        stream.synchronize(&self.raw).map_err(of_call)
    }

    /// Does something that does not wait with a stream.
    #[inline]
    pub fn with_stream<T>(
        &self,
        stream: StreamHandle,
        act: impl FnOnce(&RawStream) -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        self.streams.with(stream, act)
    }
}

impl fmt::Debug for CudaContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaContext")
            .field("device_index", &self.device_index)
            .finish_non_exhaustive()
    }
}
