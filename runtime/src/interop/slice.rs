//! Memory that another library allocated, as slices that launch functions take.

use std::marker::PhantomData;

use super::Place;
use crate::data::buffer::{DeviceSlice, DeviceSliceMut, RawSlice, sealed};
use crate::data::element::Element;
use crate::device::DeviceError;
use crate::device::lent::Lent;
use crate::device::stream::Stream;

#[cfg(doc)]
use crate::device::graph::Graph;

/// An array of `T` in a device's memory that another library allocated.
///
/// # Safety
/// While the value is borrowed, there are [`Self::len`] initialised values of type `T` at [`Self::address`], in memory
/// that kernels of the device of [`Self::place`] can reach; and two values that are borrowed at once do not overlap
/// where one is borrowed mutably. The memory is not freed, nor used from elsewhere, before the work that was queued on
/// it during a borrow is done: the library orders what it queues behind that, as the driver does on one stream. Kiln
/// launches on it on the stream that it was borrowed for, and on no other; and lets no [`Graph`] name it, which could be
/// replayed after the borrow.
pub unsafe trait DevicePointer<T> {
    /// The device whose memory it is.
    fn place(&self) -> Place;

    /// The address as kernels see it: a `CUdeviceptr`, or the pointer that `hipMalloc` gave.
    fn address(&self) -> u64;

    /// How many elements there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Memory of another library that a kernel may read.
#[derive(Clone, Copy, Debug)]
pub struct ForeignSlice<'a, T> {
    raw: RawSlice,
    _borrowed: PhantomData<&'a [T]>,
}

/// Memory of another library that a kernel may write.
#[derive(Debug)]
pub struct ForeignSliceMut<'a, T> {
    raw: RawSlice,
    _borrowed: PhantomData<&'a mut [T]>,
}

/// The memory of another library as a slice that kernels on a stream may read: on that one and its clones. A launch on
/// it cannot be recorded.
///
/// # Errors
/// [`DeviceError::Unsupported`] when it is of another device than the stream.
pub fn slice<'a, T: Element>(
    stream: &Stream,
    memory: &'a impl DevicePointer<T>,
) -> Result<ForeignSlice<'a, T>, DeviceError> {
    Ok(ForeignSlice {
        raw: raw(stream, memory)?,
        _borrowed: PhantomData,
    })
}

/// The memory of another library as a slice that kernels on a stream may write.
///
/// # Errors
/// As [`slice()`].
pub fn slice_mut<'a, T: Element>(
    stream: &Stream,
    memory: &'a mut impl DevicePointer<T>,
) -> Result<ForeignSliceMut<'a, T>, DeviceError> {
    Ok(ForeignSliceMut {
        raw: raw(stream, memory)?,
        _borrowed: PhantomData,
    })
}

/// Ordinary memory of this process as a slice that kernels on a stream of the cpu device may read, without a copy:
/// tensors of another library that are on the host, for example.
///
/// The device runs kernels on the calling thread's time, and a launch on borrowed memory cannot be recorded, so that
/// nothing uses the memory after the borrow.
///
/// # Errors
/// [`DeviceError::Unsupported`] when the stream is of another device.
pub fn host_slice<'a, T: Element>(
    stream: &Stream,
    memory: &'a [T],
) -> Result<ForeignSlice<'a, T>, DeviceError> {
    Ok(ForeignSlice {
        raw: host_raw(stream, memory.as_ptr().expose_provenance(), memory.len())?,
        _borrowed: PhantomData,
    })
}

/// As [`host_slice`], for kernels to write.
///
/// # Errors
/// As [`host_slice`].
pub fn host_slice_mut<'a, T: Element>(
    stream: &Stream,
    memory: &'a mut [T],
) -> Result<ForeignSliceMut<'a, T>, DeviceError> {
    Ok(ForeignSliceMut {
        raw: host_raw(
            stream,
            memory.as_mut_ptr().expose_provenance(),
            memory.len(),
        )?,
        _borrowed: PhantomData,
    })
}

fn host_raw(stream: &Stream, address: usize, len: usize) -> Result<RawSlice, DeviceError> {
    Place::CPU.must_be(&**stream.device(), "memory")?;
    Ok(borrowed_by(stream, address as u64, len))
}

fn raw<T: Element>(
    stream: &Stream,
    memory: &impl DevicePointer<T>,
) -> Result<RawSlice, DeviceError> {
    memory.place().must_be(&**stream.device(), "memory")?;
    Ok(borrowed_by(stream, memory.address(), memory.len()))
}

fn borrowed_by(stream: &Stream, address: u64, len: usize) -> RawSlice {
    RawSlice {
        address,
        len: len as u64,
        device_index: stream.device_index(),
        lent: Lent::borrowed(stream.id()),
    }
}

impl<'a, T: Element> ForeignSlice<'a, T> {
    /// The `len` elements at an address, for kernels on a stream to read: a `CUdeviceptr`, or what `hipMalloc` gave,
    /// as a number.
    ///
    /// # Safety
    /// For the lifetime that the caller gives the slice, and until the work that was queued on it meanwhile is done:
    /// there are `len` initialised values of type `T` at that address, in memory that kernels of the stream's device can
    /// reach, and nothing writes to them. If such work was recorded, that holds for as long as the [`Graph`] lives,
    /// and until its last replay is done.
    pub unsafe fn from_raw(stream: &Stream, address: u64, len: usize) -> ForeignSlice<'a, T> {
        ForeignSlice {
            raw: RawSlice {
                address,
                len: len as u64,
                device_index: stream.device_index(),
                lent: Lent::vouched(stream.id()),
            },
            _borrowed: PhantomData,
        }
    }
}

impl<'a, T: Element> ForeignSliceMut<'a, T> {
    /// As [`ForeignSlice::from_raw`], for kernels to write.
    ///
    /// # Safety
    /// As for [`ForeignSlice::from_raw`]; and nothing else reads them either.
    pub unsafe fn from_raw(stream: &Stream, address: u64, len: usize) -> ForeignSliceMut<'a, T> {
        ForeignSliceMut {
            raw: RawSlice {
                address,
                len: len as u64,
                device_index: stream.device_index(),
                lent: Lent::vouched(stream.id()),
            },
            _borrowed: PhantomData,
        }
    }
}

impl<T> sealed::Sealed for ForeignSlice<'_, T> {}
impl<T> sealed::Sealed for ForeignSliceMut<'_, T> {}

impl<T> DeviceSlice<T> for ForeignSlice<'_, T> {
    #[inline]
    fn raw(&self) -> RawSlice {
        self.raw
    }
}

impl<T> DeviceSlice<T> for ForeignSliceMut<'_, T> {
    #[inline]
    fn raw(&self) -> RawSlice {
        self.raw
    }
}

impl<T> DeviceSliceMut<T> for ForeignSliceMut<'_, T> {}
