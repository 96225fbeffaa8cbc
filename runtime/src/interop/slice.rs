//! Memory that another library allocated, as slices that launch functions accept.

use std::marker::PhantomData;

use super::Place;
use crate::data::buffer::{DeviceSlice, DeviceSliceMut, RawSlice, sealed};
use crate::data::element::Element;
use crate::device::DeviceError;
use crate::device::lent::Lent;
use crate::device::stream::Stream;

#[cfg(doc)]
use crate::device::graph::Graph;

/// An array of `T` that another library allocated in a device's memory.
///
/// # Safety
/// While the value is borrowed, [`Self::len`] initialised values of type `T` must be at [`Self::address`], in memory
/// that kernels of the device of [`Self::place`] can access. Two values that are borrowed at the same time must not
/// overlap if one of them is borrowed mutably.
///
/// The memory must not be freed or used from elsewhere before the work that was queued on it during a borrow is done.
/// A library satisfies this if it orders its later work after that work, as the driver does on one stream. Kiln uses
/// the memory only on the stream for which it was borrowed. Kiln never uses it in a [`Graph`], which could be
/// replayed after the borrow.
pub unsafe trait DevicePointer<T> {
    /// The device that owns the memory.
    fn place(&self) -> Place;

    /// The address of the memory in kernels: a `CUdeviceptr`, or the pointer that `hipMalloc` returned.
    fn address(&self) -> u64;

    /// The number of elements.
    fn len(&self) -> usize;

    /// Whether the array has no elements.
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

/// The memory of another library as a slice that kernels on a stream and its clones may read. A launch that uses the
/// slice cannot be recorded.
///
/// # Errors
/// [`DeviceError::Unsupported`] if the memory belongs to a device other than the stream's device.
pub fn slice<'a, T: Element>(
    stream: &Stream,
    memory: &'a impl DevicePointer<T>,
) -> Result<ForeignSlice<'a, T>, DeviceError> {
    Ok(ForeignSlice {
        raw: raw(stream, memory)?,
        _borrowed: PhantomData,
    })
}

/// The memory of another library as a slice that kernels on a stream and its clones may write. A launch that uses the
/// slice cannot be recorded.
///
/// # Errors
/// The errors of [`slice()`].
pub fn slice_mut<'a, T: Element>(
    stream: &Stream,
    memory: &'a mut impl DevicePointer<T>,
) -> Result<ForeignSliceMut<'a, T>, DeviceError> {
    Ok(ForeignSliceMut {
        raw: raw(stream, memory)?,
        _borrowed: PhantomData,
    })
}

/// Memory of this process as a slice that kernels on a stream of the cpu device may read. Nothing is copied. The
/// memory can be, for example, a host tensor of another library.
///
/// The cpu device runs a kernel during the call that launches it, and a launch on borrowed memory cannot be recorded.
/// Therefore nothing uses the memory after the borrow.
///
/// # Errors
/// [`DeviceError::Unsupported`] if the stream belongs to another device.
pub fn host_slice<'a, T: Element>(
    stream: &Stream,
    memory: &'a [T],
) -> Result<ForeignSlice<'a, T>, DeviceError> {
    Ok(ForeignSlice {
        raw: host_raw(stream, memory.as_ptr().expose_provenance(), memory.len())?,
        _borrowed: PhantomData,
    })
}

/// Like [`host_slice`], but kernels may also write the memory.
///
/// # Errors
/// The errors of [`host_slice`].
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
    /// The `len` elements at an address, as a slice that kernels on a stream may read. The address is a
    /// `CUdeviceptr`, or the result of `hipMalloc` as an integer.
    ///
    /// # Safety
    /// There must be `len` initialised values of type `T` at that address, in memory that kernels of the stream's
    /// device can access, and nothing may write to them. This must hold for the lifetime of the slice and until the
    /// work that was queued on the slice is done. If such work was recorded, it must also hold as long as the
    /// [`Graph`] exists and until its last replay is done.
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
    /// Like [`ForeignSlice::from_raw`], but kernels may also write the elements.
    ///
    /// # Safety
    /// The requirements of [`ForeignSlice::from_raw`]; in addition, nothing else may read the elements.
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
