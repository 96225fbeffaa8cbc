//! The shared state of one AMD GPU: its streams, and objects that may not be freed yet.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::backend::gpu::GpuState;
use crate::device::StreamHandle;
use crate::device::error::DeviceError;

use super::ffi::{HipPlace, OwnedStream};

/// State that the memory, the modules and the launches of one device share.
///
/// A [`StreamHandle`] is a number in a table and never an address, so an invalid or closed handle is an error.
pub(super) struct HipContext {
    /// The HIP runtime, and the number of the device in it.
    pub place: HipPlace,
    /// The [`crate::device::DeviceBackend::index`] of the device.
    pub index: u32,
    /// The state of recordings and timing.
    pub kept: GpuState<HipContext>,
    streams: RwLock<BTreeMap<u64, Arc<OwnedStream>>>,
    next_stream: AtomicU64,
}

impl HipContext {
    /// The state of a device, with only its default stream.
    pub fn new(place: HipPlace) -> HipContext {
        let default = Arc::new(OwnedStream::default_of(&place));
        HipContext {
            place,
            index: crate::device::next_index(),
            kept: GpuState::default(),
            streams: RwLock::new(BTreeMap::from([(StreamHandle::DEFAULT.0, default)])),
            next_stream: AtomicU64::new(StreamHandle::DEFAULT.0 + 1),
        }
    }

    /// The open stream with this handle, or an error if there is none.
    pub fn stream(&self, handle: StreamHandle) -> Result<Arc<OwnedStream>, DeviceError> {
        let streams = self.streams.read().unwrap_or_else(PoisonError::into_inner);
        let found = streams.get(&handle.0).cloned();
        found.ok_or_else(|| DeviceError::NotFound {
            what: format!("stream {}", handle.0),
            text: "it was closed, or belongs to another device".into(),
        })
    }

    /// Adds a stream to the table and returns its handle. Handles are never reused.
    pub fn add_stream(&self, stream: OwnedStream) -> StreamHandle {
        let handle = StreamHandle(self.next_stream.fetch_add(1, Ordering::Relaxed));
        let mut streams = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        streams.insert(handle.0, Arc::new(stream));
        handle
    }

    /// Removes a stream from the table. Does nothing for the default stream.
    pub fn remove_stream(&self, handle: StreamHandle) -> Option<Arc<OwnedStream>> {
        if handle == StreamHandle::DEFAULT {
            return None;
        }
        let mut streams = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        streams.remove(&handle.0)
    }
}

impl fmt::Debug for HipContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("ordinal", &self.place.ordinal)
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}
