//! The streams of one device, in a table. An unknown handle is an error and never an invalid pointer.
//!
//! No call that waits for the device holds the table's lock. Otherwise, opening a stream, which needs the lock
//! exclusively, would wait for the device, and later launches would wait behind it.

use std::sync::{Arc, PoisonError, RwLock};

use crate::device::{DeviceError, StreamHandle};
use crate::interop::VouchedStream;

use super::error::of_call;
use super::ffi::{PrimaryContext, RawStream};

/// The open streams. Handle 0 is the default stream, and handle n is the stream at index n - 1.
pub(super) struct Streams {
    default: Arc<RawStream>,
    opened: RwLock<Vec<Option<Arc<RawStream>>>>,
}

impl Streams {
    pub fn new() -> Streams {
        Streams {
            default: Arc::new(RawStream::DEFAULT),
            opened: RwLock::new(Vec::new()),
        }
    }

    /// Opens a stream and returns its handle.
    pub fn open(&self, context: &Arc<PrimaryContext>) -> Result<StreamHandle, DeviceError> {
        let stream = RawStream::new(context).map_err(of_call)?;
        Ok(self.put(stream))
    }

    /// Adds a stream of another library. Closing it here does not destroy it.
    pub fn adopt(&self, stream: &VouchedStream) -> StreamHandle {
        self.put(RawStream::adopted(stream))
    }

    fn put(&self, stream: RawStream) -> StreamHandle {
        let mut opened = self.opened.write().unwrap_or_else(PoisonError::into_inner);
        let place = opened.iter().position(Option::is_none).unwrap_or_else(|| {
            opened.push(None);
            opened.len() - 1
        });
        opened[place] = Some(Arc::new(stream));
        StreamHandle(place as u64 + 1)
    }

    /// Closes a stream. Does nothing if the handle is unknown.
    pub fn close(&self, stream: StreamHandle) {
        let mut opened = self.opened.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(closed) = place(stream).and_then(|place| opened.get_mut(place)) {
            *closed = None;
        }
    }

    /// The stream with this handle, for calls that wait for its work. The stream stays open as long as the returned
    /// value exists.
    pub fn get(&self, stream: StreamHandle) -> Result<Arc<RawStream>, DeviceError> {
        let Some(place) = place(stream) else {
            return Ok(self.default.clone());
        };
        let opened = self.opened.read().unwrap_or_else(PoisonError::into_inner);
        let found = opened.get(place).cloned().flatten();
        found.ok_or_else(|| unknown(stream))
    }

    /// Calls a function with the stream of this handle. The function must not wait. The stream stays open during the
    /// call. Allocates nothing.
    #[inline]
    pub fn with<T>(
        &self,
        stream: StreamHandle,
        act: impl FnOnce(&RawStream) -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        let Some(place) = place(stream) else {
            return act(&self.default);
        };
        let opened = self.opened.read().unwrap_or_else(PoisonError::into_inner);
        match opened.get(place) {
            Some(Some(stream)) => act(stream),
            _ => Err(unknown(stream)),
        }
    }
}

fn unknown(stream: StreamHandle) -> DeviceError {
    DeviceError::NotFound {
        what: format!("stream {}", stream.0),
        text: "it was closed, or belongs to another device".into(),
    }
}

fn place(stream: StreamHandle) -> Option<usize> {
    usize::try_from(stream.0).ok()?.checked_sub(1)
}
