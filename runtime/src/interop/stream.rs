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
/// For as long as the value lives, [`Self::as_raw`] gives the same stream, which is open, and is of the device of
/// [`Self::place`]; for CUDA, of its primary context. Dropping the value does not close the stream before the work that
/// is queued on it is done, or the driver takes care of that itself, as CUDA and HIP do.
pub unsafe trait RawStream: Send + Sync + 'static {
    /// The device it is of.
    fn place(&self) -> Place;

    /// The driver's own handle: a `CUstream` or `hipStream_t`. Null is the default stream.
    fn as_raw(&self) -> *mut c_void;
}

/// A stream that queues work on one of another library, which is kept as long as the stream or a clone of it.
///
/// Opening one takes a look-up; launches on it cost what they cost on Kiln's own. So make it once, not for each launch.
///
/// # Errors
/// When Kiln has no such device, or the device takes no streams of others.
pub fn stream(owner: impl RawStream) -> Result<Stream, DeviceError> {
    let device = crate::open(&owner.place().to_string())?;
    let raw = VouchedStream::new(owner.as_raw() as u64);
    Stream::adopt(device, raw, Box::new(owner))
}

/// A stream that queues work on the one behind a raw handle, a `CUstream` or `hipStream_t`; null is the default stream.
///
/// `keep` is kept as long as the stream or a clone of it: give it what holds the raw stream open, or `()`.
///
/// # Errors
/// When the device takes no streams of others.
///
/// # Safety
/// `raw` is an open stream of that device, for CUDA of its primary context, and stays open until the returned stream
/// and all of its clones are dropped.
pub unsafe fn stream_from_raw(
    device: Device,
    raw: *mut c_void,
    keep: impl Any + Send + Sync,
) -> Result<Stream, DeviceError> {
    Stream::adopt(device, VouchedStream::new(raw as u64), Box::new(keep))
}

/// As [`stream_from_raw`], for this crate's adapters, which vouch by what they keep.
#[cfg(feature = "cudarc-019")]
pub(super) fn of_adapter(
    device: Device,
    raw: u64,
    keep: impl Any + Send + Sync,
) -> Result<Stream, DeviceError> {
    Stream::adopt(device, VouchedStream::new(raw), Box::new(keep))
}
