//! Streams: ordered queues of work on one device.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::device::{Device, DeviceError, StreamHandle};
use crate::interop::VouchedStream;
use crate::selection::forced::Forced;

/// The next number of an opened stream. It is larger than those of default streams, which are 1 plus the device's
/// index.
static NEXT_ID: AtomicU64 = AtomicU64::new(1 << 33);

/// An ordered queue of work on one device. Clones refer to the same queue.
///
/// ```
/// # fn main() -> Result<(), kiln::DeviceError> {
/// let device = kiln::Device::cpu()?;
/// let stream = device.new_stream()?;
/// stream.synchronize()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Stream {
    device: Device,
    device_index: u32,
    id: u64,
    handle: StreamHandle,
    forced: Option<Arc<Forced>>,
    /// Closes the queue when the last clone is dropped; the device's default stream is never closed.
    _opened: Option<Arc<OwnedStreamHandle>>,
}

struct OwnedStreamHandle {
    device: Device,
    handle: StreamHandle,
    /// The object that holds the queue open, if it belongs to another library; dropped after the queue is closed
    /// here.
    _owner: Option<Box<dyn Any + Send + Sync>>,
}

impl Drop for OwnedStreamHandle {
    fn drop(&mut self) {
        self.device.close_stream(self.handle);
    }
}

impl fmt::Debug for OwnedStreamHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Opened").field(&self.handle).finish()
    }
}

impl Device {
    /// Its default stream.
    pub fn stream(&self) -> Stream {
        Stream::default_of(self.clone())
    }

    /// A new stream, whose work may overlap with that of other streams.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn new_stream(&self) -> Result<Stream, DeviceError> {
        Stream::new(self.clone())
    }
}

impl Stream {
    /// A new stream.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn new(device: impl Into<Device>) -> Result<Stream, DeviceError> {
        let device = device.into();
        let handle = device.open_stream()?;
        Ok(Stream::opened(device, handle, None))
    }

    /// A stream of another library, which `owner` holds open.
    pub(crate) fn adopt(
        device: Device,
        raw: VouchedStream,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Result<Stream, DeviceError> {
        let handle = device.adopt_stream(raw)?;
        Ok(Stream::opened(device, handle, Some(owner)))
    }

    fn opened(
        device: Device,
        handle: StreamHandle,
        owner: Option<Box<dyn Any + Send + Sync>>,
    ) -> Stream {
        let opened = OwnedStreamHandle {
            device: device.clone(),
            handle,
            _owner: owner,
        };
        Stream {
            device_index: device.index(),
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            device,
            handle,
            forced: None,
            _opened: Some(Arc::new(opened)),
        }
    }

    /// The device's default stream.
    pub fn default_of(device: impl Into<Device>) -> Stream {
        let device = device.into();
        Stream {
            device_index: device.index(),
            id: 1 + u64::from(device.index()),
            device,
            handle: StreamHandle::DEFAULT,
            forced: None,
            _opened: None,
        }
    }

    /// The same queue, on which launch functions do not select but use the forced choice.
    ///
    /// Smoke tests use it to run every baked row on the present device, and programs can use it to pin a row.
    pub fn forced(&self, forced: Arc<Forced>) -> Stream {
        Stream {
            forced: Some(forced),
            ..self.clone()
        }
    }

    /// The device on which it queues work.
    #[inline]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The [`DeviceBackend::index`](crate::device::DeviceBackend::index) of its device.
    #[inline]
    pub fn device_index(&self) -> u32 {
        self.device_index
    }

    /// A number that it shares only with its clones, unique within the process; never 0. The default streams of one
    /// device count as one.
    #[inline]
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// The backend's handle of it.
    #[inline]
    pub fn handle(&self) -> StreamHandle {
        self.handle
    }

    /// The driver's own handle, a `CUstream` or `hipStream_t` as a number, so that other libraries can queue work on
    /// it. It is open as long as this stream or a clone of it.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if the driver has no streams, as on the cpu.
    pub fn raw(&self) -> Result<u64, DeviceError> {
        self.device.raw_stream(self.handle)
    }

    /// The forced choice, if there is one.
    #[inline]
    pub fn what_is_forced(&self) -> Option<&Forced> {
        self.forced.as_deref()
    }

    /// Waits until everything queued on it is done.
    ///
    /// # Errors
    /// An error of a kernel since the last synchronisation.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        self.device.synchronize_stream(self.handle)
    }
}
