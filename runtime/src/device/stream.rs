//! [`Stream`], an ordered queue of work on one device.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::device::{Device, DeviceError, StreamHandle};
use crate::interop::VouchedStream;
use crate::selection::forced::Forced;

/// The next ID of an opened stream. It is larger than the ID of every default stream, which is the index of the
/// stream's device plus 1.
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
    /// Closes the queue when the last clone is dropped. `None` for the device's default stream, which is never
    /// closed.
    _opened: Option<Arc<OwnedStreamHandle>>,
}

struct OwnedStreamHandle {
    device: Device,
    handle: StreamHandle,
    /// For a queue of another library, the object that keeps the queue open. It is dropped after this device has
    /// released the queue.
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
    /// The default stream of the device.
    pub fn stream(&self) -> Stream {
        Stream::default_of(self.clone())
    }

    /// Opens a new stream. Its work may overlap with the work of other streams.
    ///
    /// # Errors
    /// If the driver cannot open a stream.
    pub fn new_stream(&self) -> Result<Stream, DeviceError> {
        Stream::new(self.clone())
    }
}

impl Stream {
    /// Opens a new stream on a device.
    ///
    /// # Errors
    /// If the driver cannot open a stream.
    pub fn new(device: impl Into<Device>) -> Result<Stream, DeviceError> {
        let device = device.into();
        let handle = device.open_stream()?;
        Ok(Stream::opened(device, handle, None))
    }

    /// Adopts a stream of another library, which `owner` keeps open.
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

    /// The default stream of a device.
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

    /// Another handle of the same queue, which forces a choice (a baked row or the baseline) for one kernel. The launch
    /// function of the kernel for which `forced` was created launches the forced choice instead of selecting one. All
    /// other launch functions select as usual.
    ///
    /// Smoke tests use such handles to run every baked row on any device. Programs can use them to pin a row.
    pub fn forced(&self, forced: Arc<Forced>) -> Stream {
        Stream {
            forced: Some(forced),
            ..self.clone()
        }
    }

    /// The device on which the stream queues work.
    #[inline]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The [`DeviceBackend::index`](crate::device::DeviceBackend::index) of the stream's device.
    #[inline]
    pub fn device_index(&self) -> u32 {
        self.device_index
    }

    /// The ID of the queue, which is unique within the process and never 0. Clones of a stream share the ID, and so do
    /// all handles of a device's default stream.
    #[inline]
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// The backend's handle of the stream.
    #[inline]
    pub fn handle(&self) -> StreamHandle {
        self.handle
    }

    /// The driver's own handle (a `CUstream` or `hipStream_t`) as an integer, so that other libraries can queue work
    /// on the stream. The handle stays open as long as this stream or one of its clones exists.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if the device's driver has no streams, as on the cpu device.
    pub fn raw(&self) -> Result<u64, DeviceError> {
        self.device.raw_stream(self.handle)
    }

    /// The forced choice, which applies to one kernel; `None` if all launch functions select as usual.
    #[inline]
    pub fn what_is_forced(&self) -> Option<&Forced> {
        self.forced.as_deref()
    }

    /// Waits until all work queued on the stream is done.
    ///
    /// # Errors
    /// An error of a kernel that ran since the last synchronisation.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        self.device.synchronize_stream(self.handle)
    }
}
