//! Streams: ordered queues of work on one device.

use std::sync::Arc;

use crate::device::{Device, DeviceError, StreamHandle};
use crate::select::Forced;

/// An ordered queue of work on one device. Clones name the same queue.
///
/// ```
/// # fn main() -> Result<(), kiln::DeviceError> {
/// let device = kiln::open("fake")?;
/// let stream = kiln::Stream::new(device)?;
/// stream.synchronize()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Stream {
    device: Arc<dyn Device>,
    device_index: u32,
    handle: StreamHandle,
    forced: Option<Arc<Forced>>,
    /// Closes the queue when the last clone goes; the device's default stream is never closed.
    _opened: Option<Arc<Opened>>,
}

#[derive(Debug)]
struct Opened {
    device: Arc<dyn Device>,
    handle: StreamHandle,
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.device.close_stream(self.handle);
    }
}

impl Stream {
    /// A stream of its own.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn new(device: Arc<dyn Device>) -> Result<Stream, DeviceError> {
        let handle = device.open_stream()?;
        let opened = Opened {
            device: device.clone(),
            handle,
        };
        Ok(Stream {
            device_index: device.index(),
            device,
            handle,
            forced: None,
            _opened: Some(Arc::new(opened)),
        })
    }

    /// The device's default stream.
    pub fn default_of(device: Arc<dyn Device>) -> Stream {
        Stream {
            device_index: device.index(),
            device,
            handle: StreamHandle::DEFAULT,
            forced: None,
            _opened: None,
        }
    }

    /// The same queue, on which launch functions do not select: they launch what is forced.
    ///
    /// It is how smoke tests run every baked row on the device at hand, and how a program can pin a row.
    pub fn forced(&self, forced: Arc<Forced>) -> Stream {
        Stream {
            forced: Some(forced),
            ..self.clone()
        }
    }

    /// The device it queues work on.
    #[inline]
    pub fn device(&self) -> &Arc<dyn Device> {
        &self.device
    }

    /// The [`Device::index`] of its device.
    #[inline]
    pub fn device_index(&self) -> u32 {
        self.device_index
    }

    /// The backend's name for it.
    #[inline]
    pub fn handle(&self) -> StreamHandle {
        self.handle
    }

    /// What launch functions are forced to launch on it.
    #[inline]
    pub fn what_is_forced(&self) -> Option<&Forced> {
        self.forced.as_deref()
    }

    /// Waits until everything queued on it is done.
    ///
    /// # Errors
    /// What a kernel did wrong since the last synchronisation.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        self.device.synchronize_stream(self.handle)
    }
}
