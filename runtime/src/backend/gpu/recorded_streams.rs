//! The streams of one device that are being recorded. They are identified by the driver's own handle, because two of
//! Kiln's streams may be the same stream of the driver.

use std::collections::BTreeSet;
use std::sync::{PoisonError, RwLock, RwLockWriteGuard};

use crate::device::DeviceError;

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
        let streams = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if streams.contains(&stream) {
            return Err(DeviceError::Unsupported { what: what.into() });
        }
        act()
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeSet<u64>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}
