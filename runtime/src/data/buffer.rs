//! Typed device memory that knows its length and its device.

use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

use crate::data::element::Element;
use crate::device::lent::Lent;
use crate::device::stream::Stream;
use crate::device::{Allocation, Device, DeviceError};

/// Alignment of every buffer in bytes. With it, any vector load at the start of a buffer is aligned.
pub const BUFFER_ALIGN: usize = 256;

/// The address, length and device of a slice: everything that a launch needs to know about a slice argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawSlice {
    /// The address, as kernels see it.
    pub address: u64,
    /// The length in elements.
    pub len: u64,
    /// The [`index`](crate::device::DeviceBackend::index) of the device that owns the memory.
    pub device_index: u32,
    /// The streams that may use the slice.
    pub(crate) lent: Lent,
}

pub(crate) mod sealed {
    pub trait Sealed {}
    impl<T> Sealed for super::Buffer<T> {}
    impl<T> Sealed for super::View<'_, T> {}
    impl<T> Sealed for super::ViewMut<'_, T> {}
}

/// Device memory that a kernel may read: a [`Buffer`], [`View`] or [`ViewMut`], or memory of another library
/// ([`crate::interop`]).
pub trait DeviceSlice<T>: sealed::Sealed {
    /// The address, length and device of the slice.
    fn raw(&self) -> RawSlice;
}

/// Device memory that a kernel may write: a [`Buffer`] or [`ViewMut`], or memory of another library.
pub trait DeviceSliceMut<T>: DeviceSlice<T> {}

/// An owned array in device memory, for programs that do not have their own allocator.
///
/// `Buffer` is simple and not optimised for speed. The driver allocates and zeroes each array separately. Copies to and
/// from the host use pageable memory and are complete when the method returns. Dropping a buffer waits for the work
/// queued on the device. Programs that need memory pools, uninitialised memory, copies between devices, or pinned or
/// asynchronous transfers can launch on memory of other libraries: [`crate::interop`].
///
/// ```
/// # fn main() -> Result<(), kiln::DeviceError> {
/// let stream = kiln::Device::cpu()?.stream();
/// let buffer = kiln::Buffer::from_slice(&stream, &[1.0f32, 2.0, 3.0])?;
/// assert_eq!(buffer.len(), 3);
/// assert_eq!(buffer.view(1..).to_vec(&stream)?, [2.0, 3.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Buffer<T> {
    memory: Box<dyn Allocation>,
    len: usize,
    /// Keeps the device open as long as the memory exists.
    _device: Device,
    _elements: PhantomData<T>,
}

impl<T: Element> Buffer<T> {
    /// Allocates an array of `len` zeros.
    ///
    /// # Errors
    /// [`DeviceError::Oom`] if there is not enough memory.
    pub fn zeros(stream: &Stream, len: usize) -> Result<Buffer<T>, DeviceError> {
        let bytes = byte_size::<T>(len)?;
        let memory = stream.device().alloc(bytes.max(1), BUFFER_ALIGN)?;
        Ok(Buffer::of(stream.device().clone(), memory, len))
    }

    /// Like [`Self::zeros`], with inaccessible memory before and after the array.
    ///
    /// # Errors
    /// The errors of [`Self::zeros`]; [`DeviceError::Unsupported`] if the device does not support inaccessible memory.
    pub fn guarded(stream: &Stream, len: usize) -> Result<Buffer<T>, DeviceError> {
        let bytes = byte_size::<T>(len)?;
        let align = size_of::<T>().max(16);
        let memory = stream.device().alloc_guarded(bytes.max(1), align)?;
        Ok(Buffer::of(stream.device().clone(), memory, len))
    }

    /// Allocates an array and copies a host slice into it.
    ///
    /// # Errors
    /// The errors of [`Self::zeros`].
    pub fn from_slice(stream: &Stream, host: &[T]) -> Result<Buffer<T>, DeviceError> {
        let mut buffer = Buffer::zeros(stream, host.len())?;
        buffer.copy_from_slice(stream, host)?;
        Ok(buffer)
    }

    fn of(device: Device, memory: Box<dyn Allocation>, len: usize) -> Buffer<T> {
        Buffer {
            memory,
            len,
            _device: device,
            _elements: PhantomData,
        }
    }

    /// The length in elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the array has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A part of the array that a kernel may read; `..` means the whole array.
    ///
    /// # Panics
    /// If the range is not inside the array, as when indexing a slice.
    pub fn view(&self, range: impl RangeBounds<usize>) -> View<'_, T> {
        View(Part::new(self, range))
    }

    /// A part of the array that a kernel may write; `..` means the whole array.
    ///
    /// # Panics
    /// If the range is not inside the array, as when indexing a slice.
    pub fn view_mut(&mut self, range: impl RangeBounds<usize>) -> ViewMut<'_, T> {
        ViewMut(Part::new(self, range))
    }

    /// Copies the array to the host, after all work queued on `stream` so far.
    ///
    /// # Errors
    /// An error of a kernel that ran since the last synchronisation; [`DeviceError::Unsupported`] if `stream` belongs
    /// to another device.
    pub fn to_vec(&self, stream: &Stream) -> Result<Vec<T>, DeviceError> {
        self.view(..).to_vec(stream)
    }

    /// Overwrites the array with a host slice of the same length.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`] if the lengths differ; [`DeviceError::Unsupported`] if `stream` belongs to another
    /// device.
    pub fn copy_from_slice(&mut self, stream: &Stream, host: &[T]) -> Result<(), DeviceError> {
        if host.len() != self.len {
            return Err(DeviceError::OutOfBounds {
                offset: 0,
                end: size_of_val(host),
                size_bytes: self.len * size_of::<T>(),
            });
        }
        same_device(&*self.memory, stream)?;
        if host.is_empty() {
            return Ok(());
        }
        self.memory
            .write(stream.handle(), 0, bytemuck::cast_slice(host))
    }

    /// Sets every byte of the array to `value`.
    ///
    /// # Errors
    /// If the device cannot write the memory, or if `stream` belongs to another device.
    pub fn fill_bytes(&mut self, stream: &Stream, value: u8) -> Result<(), DeviceError> {
        same_device(&*self.memory, stream)?;
        let bytes = self.len * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        self.memory.fill(stream.handle(), 0, bytes, value)
    }
}

impl<T> Buffer<T> {
    #[inline]
    fn whole(&self) -> RawSlice {
        RawSlice {
            address: self.memory.address(),
            len: self.len as u64,
            device_index: self.memory.device_index(),
            lent: Lent::NOT,
        }
    }
}

/// Checks that a stream belongs to the device that owns the memory, because the stream orders the copy.
fn same_device(memory: &dyn Allocation, stream: &Stream) -> Result<(), DeviceError> {
    if memory.device_index() == stream.device_index() {
        return Ok(());
    }
    Err(DeviceError::Unsupported {
        what: format!(
            "a copy of memory of device {} on a stream of device {}",
            memory.device_index(),
            stream.device_index()
        ),
    })
}

fn byte_size<T>(len: usize) -> Result<usize, DeviceError> {
    len.checked_mul(size_of::<T>())
        .ok_or_else(|| DeviceError::Oom {
            wanted_bytes: u64::MAX,
            text: format!("{len} elements are beyond the address space"),
        })
}

impl<T> DeviceSlice<T> for Buffer<T> {
    #[inline]
    fn raw(&self) -> RawSlice {
        self.whole()
    }
}

impl<T> DeviceSliceMut<T> for Buffer<T> {}

/// A range of a buffer.
#[derive(Clone, Copy, Debug)]
struct Part<'a, T> {
    buffer: &'a Buffer<T>,
    start: usize,
    len: usize,
}

impl<'a, T> Part<'a, T> {
    fn new(buffer: &'a Buffer<T>, range: impl RangeBounds<usize>) -> Part<'a, T> {
        let start = match range.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&start) => start.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            // The buffer has fewer elements than `usize::MAX`, so the assertion below fails for this end.
            Bound::Included(&end) => end.saturating_add(1),
            Bound::Excluded(&end) => end,
            Bound::Unbounded => buffer.len,
        };
        assert!(
            start <= end && end <= buffer.len,
            "range {start}..{end} is not inside a buffer of {} elements",
            buffer.len
        );
        Part {
            buffer,
            start,
            len: end - start,
        }
    }

    #[inline]
    fn raw(&self) -> RawSlice {
        let whole = self.buffer.whole();
        RawSlice {
            address: whole.address + (self.start * size_of::<T>()) as u64,
            len: self.len as u64,
            ..whole
        }
    }
}

/// A part of a [`Buffer`] that a kernel may read.
#[derive(Clone, Copy, Debug)]
pub struct View<'a, T>(Part<'a, T>);

/// A part of a [`Buffer`] that a kernel may write.
#[derive(Debug)]
pub struct ViewMut<'a, T>(Part<'a, T>);

impl<T: Element> View<'_, T> {
    /// Copies the part to the host, after all work queued on `stream` so far.
    ///
    /// # Errors
    /// The errors of [`Buffer::to_vec`].
    pub fn to_vec(&self, stream: &Stream) -> Result<Vec<T>, DeviceError> {
        same_device(&*self.0.buffer.memory, stream)?;
        let mut host = vec![T::zeroed(); self.0.len];
        if !host.is_empty() {
            let offset = self.0.start * size_of::<T>();
            let memory = &self.0.buffer.memory;
            memory.read(stream.handle(), offset, bytemuck::cast_slice_mut(&mut host))?;
        }
        Ok(host)
    }
}

impl<T> View<'_, T> {
    /// The length in elements.
    pub fn len(&self) -> usize {
        self.0.len
    }

    /// Whether the part has no elements.
    pub fn is_empty(&self) -> bool {
        self.0.len == 0
    }
}

impl<T> ViewMut<'_, T> {
    /// The length in elements.
    pub fn len(&self) -> usize {
        self.0.len
    }

    /// Whether the part has no elements.
    pub fn is_empty(&self) -> bool {
        self.0.len == 0
    }
}

impl<T> DeviceSlice<T> for View<'_, T> {
    #[inline]
    fn raw(&self) -> RawSlice {
        self.0.raw()
    }
}

impl<T> DeviceSlice<T> for ViewMut<'_, T> {
    #[inline]
    fn raw(&self) -> RawSlice {
        self.0.raw()
    }
}

impl<T> DeviceSliceMut<T> for ViewMut<'_, T> {}
