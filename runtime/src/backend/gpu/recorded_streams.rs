//! The streams of one device that are being recorded, by the driver's own handle: two streams of Kiln's may be one of the
//! driver's.

use std::collections::BTreeSet;
use std::sync::{PoisonError, RwLock, RwLockWriteGuard};

use crate::device::DeviceError;

/// Which streams are being recorded.
#[derive(Debug, Default)]
pub(crate) struct RecordedStreams(RwLock<BTreeSet<u64>>);

impl RecordedStreams {
    /// Begins with a stream, by `begin`, unless it has begun already.
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

    /// Ends what was begun with a stream, by `end`, which is not called if nothing was begun.
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

    /// Does something while no recording of a stream begins; refused while it is being recorded, as unsupported `what`.
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
