//! The streams of one device, by number: a number that names none is an error, never a wild pointer.
//!
//! Nothing that waits for the device holds the table: opening a stream waits until nobody reads it, and every launch behind
//! that.

use std::sync::{Arc, PoisonError, RwLock};

use crate::device::{DeviceError, StreamHandle};
use crate::interop::VouchedStream;

use super::error::of_call;
use super::ffi::{PrimaryContext, RawStream};

/// The open streams; handle 0 is the default one, handle n the one at place n - 1.
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

    /// Opens one.
    pub fn open(&self, context: &Arc<PrimaryContext>) -> Result<StreamHandle, DeviceError> {
        let stream = RawStream::new(context).map_err(of_call)?;
        Ok(self.put(stream))
    }

    /// Takes in one of another library, which stays open when it is closed here.
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

    /// Closes one; nothing happens for a number that names none.
    pub fn close(&self, stream: StreamHandle) {
        let mut opened = self.opened.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(closed) = place(stream).and_then(|place| opened.get_mut(place)) {
            *closed = None;
        }
    }

    /// The stream of a number, which stays open as long as this: for what waits for its work.
    pub fn get(&self, stream: StreamHandle) -> Result<Arc<RawStream>, DeviceError> {
        let Some(place) = place(stream) else {
            return Ok(self.default.clone());
        };
        let opened = self.opened.read().unwrap_or_else(PoisonError::into_inner);
        let found = opened.get(place).cloned().flatten();
        found.ok_or_else(|| unknown(stream))
    }

    /// Does something that does not wait with the stream of a number, which stays open meanwhile. Allocates nothing.
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
        text: "it was closed, or is of another device".into(),
    }
}

fn place(stream: StreamHandle) -> Option<usize> {
    usize::try_from(stream.0).ok()?.checked_sub(1)
}
