//! Streams that another library opened.

use std::any::Any;
use std::ffi::c_void;

use super::Place;
use super::vouched::VouchedStream;
use crate::device::stream::Stream;
use crate::device::{Device, DeviceError};

/// A stream of another library.
///
/// # Safety
/// As long as the value exists, [`Self::as_raw`] must return the same stream. That stream must be open and belong to
/// the device of [`Self::place`] (for CUDA, to its primary context). Dropping the value must not close the stream
/// before its queued work is done, unless the driver itself defers the closing, as CUDA and HIP do.
pub unsafe trait RawStream: Send + Sync + 'static {
    /// The device of the stream.
    fn place(&self) -> Place;

    /// The driver's own handle: a `CUstream` or `hipStream_t`. Null is the default stream.
    fn as_raw(&self) -> *mut c_void;
}

/// A stream that queues work on a stream of another library. The returned stream and its clones keep `owner` alive, so
/// the foreign stream stays open.
///
/// Creating the stream looks up the device, so create it once, not for each launch. Launches on it cost the same as
/// launches on Kiln's own streams.
///
/// # Errors
/// If Kiln does not have the device, or if the device does not support foreign streams.
pub fn stream(owner: impl RawStream) -> Result<Stream, DeviceError> {
    let device = crate::open(&owner.place().to_string())?;
    let raw = VouchedStream::new(owner.as_raw() as u64);
    Stream::adopt(device, raw, Box::new(owner))
}

/// A stream that queues work on a raw handle (a `CUstream` or `hipStream_t`). A null handle means the default stream.
///
/// The stream and its clones keep the value `keep` alive. Pass the value that keeps the raw stream open, or `()`.
///
/// # Errors
/// If the device does not support foreign streams.
///
/// # Safety
/// `raw` must be an open stream of this device (for CUDA, of its primary context), and stay open until the returned
/// stream and all of its clones are dropped.
pub unsafe fn stream_from_raw(
    device: Device,
    raw: *mut c_void,
    keep: impl Any + Send + Sync,
) -> Result<Stream, DeviceError> {
    Stream::adopt(device, VouchedStream::new(raw as u64), Box::new(keep))
}

/// Like [`stream_from_raw`], for the adapters in this crate. An adapter vouches for the stream because `keep` keeps the
/// stream open.
#[cfg(feature = "cudarc-019")]
pub(super) fn of_adapter(
    device: Device,
    raw: u64,
    keep: impl Any + Send + Sync,
) -> Result<Stream, DeviceError> {
    Stream::adopt(device, VouchedStream::new(raw), Box::new(keep))
}
