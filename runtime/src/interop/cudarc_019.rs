//! Streams and slices of cudarc 0.19.
//!
//! ```no_run
//! use std::sync::Arc;
//! use kiln::interop::cudarc_019::{self, cudarc};
//! use cudarc::driver::{CudaContext, CudaSlice};
//! # fn scale(_: &kiln::Stream, _: u32, _: f32, _: &impl kiln::DeviceSlice<f32>, _: &mut impl kiln::DeviceSliceMut<f32>)
//! #     -> Result<(), kiln::LaunchError> { Ok(()) }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let theirs = CudaContext::new(0)?.new_stream()?;
//! let x: CudaSlice<f32> = theirs.clone_htod(&[1.0; 1000])?;
//! let mut y: CudaSlice<f32> = theirs.alloc_zeros(1000)?;
//!
//! let stream = cudarc_019::stream(theirs)?;
//! scale(&stream, 1000, 0.5, &stream.slice(&x)?, &mut stream.slice_mut(&mut y)?)?;
//! # Ok(())
//! # }
//! ```
//!
//! Choose cudarc's CUDA version in your own `Cargo.toml`, as usual. Kiln does not choose a version, so all `cuda-*`
//! features of cudarc work. cudarc's own tracking of streams works too. A launch waits for writes to its slices on
//! other streams, and cudarc waits for the launch before it writes to a slice or frees it.

use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

pub use ::cudarc_019 as cudarc;
use cudarc::driver::{
    CudaContext, CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut,
    DeviceSlice as TheirSlice, DriverError, SyncOnDrop,
};

use super::Place;
use crate::data::buffer::{DeviceSlice, DeviceSliceMut, RawSlice, sealed};
use crate::data::element::Element;
use crate::device::DeviceError;
use crate::device::lent::Lent;
use crate::device::stream::Stream;

/// Memory that cudarc itself allocated and tracks. The trait is sealed, so only cudarc's own types implement it.
/// Otherwise safe code could implement cudarc's trait `DevicePtr` with any address.
pub trait CudarcMemory<T>: DevicePtr<T> + sealed::Sealed {}

impl<T> sealed::Sealed for CudaSlice<T> {}
impl<T> sealed::Sealed for CudaView<'_, T> {}
impl<T> sealed::Sealed for CudaViewMut<'_, T> {}
impl<T> CudarcMemory<T> for CudaSlice<T> {}
impl<T> CudarcMemory<T> for CudaView<'_, T> {}
impl<T> CudarcMemory<T> for CudaViewMut<'_, T> {}

/// Like [`CudarcMemory`], for memory that kernels may also write.
pub trait CudarcMemoryMut<T>: DevicePtrMut<T> + sealed::Sealed {}

impl<T> CudarcMemoryMut<T> for CudaSlice<T> {}
impl<T> CudarcMemoryMut<T> for CudaViewMut<'_, T> {}

/// A stream of cudarc, on which launch functions queue work.
#[derive(Clone, Debug)]
pub struct CudarcStream {
    ours: Stream,
    theirs: Arc<CudaStream>,
}

/// Queues work on a stream of cudarc and keeps it open.
///
/// # Errors
/// If Kiln cannot open the device, or if the stream belongs to a context other than the device's primary context, for
/// example to a context of `CudaContext::new_non_primary`.
pub fn stream(theirs: Arc<CudaStream>) -> Result<CudarcStream, DeviceError> {
    let context = theirs.context();
    let ordinal = u32::try_from(context.ordinal()).unwrap_or(u32::MAX);
    let primary = CudaContext::new(context.ordinal()).map_err(of_driver)?;
    if *primary != **context {
        return Err(DeviceError::Unsupported {
            what: format!("a context of cuda:{ordinal} that is not its primary one"),
        });
    }
    let device = crate::open(&Place::cuda(ordinal).to_string())?;
    let raw = theirs.cu_stream() as u64;
    let ours = super::stream::of_adapter(device, raw, theirs.clone())?;
    Ok(CudarcStream { ours, theirs })
}

fn of_driver(error: DriverError) -> DeviceError {
    DeviceError::internal("retaining the primary context", error)
}

/// Dereferences to the stream that launch functions accept.
impl Deref for CudarcStream {
    type Target = Stream;

    fn deref(&self) -> &Stream {
        &self.ours
    }
}

impl CudarcStream {
    /// The cudarc stream.
    pub fn cudarc(&self) -> &Arc<CudaStream> {
        &self.theirs
    }

    /// A `CudaSlice` or `CudaView` as a slice that kernels on this stream may read. The device waits for writes to
    /// the memory on other streams. When the slice is dropped, cudarc registers the work queued until then as a
    /// reader of the memory. Only launches on this stream can use the slice, and they cannot be recorded.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if the memory belongs to another context.
    pub fn slice<'a, T: Element>(
        &'a self,
        memory: &'a impl CudarcMemory<T>,
    ) -> Result<CudarcSlice<'a, T>, DeviceError> {
        self.check(memory)?;
        let len = memory.len() as u64;
        let (address, sync) = memory.device_ptr(&self.theirs);
        let raw = self.raw(address, len);
        Ok(CudarcSlice {
            raw,
            _sync: sync,
            _elements: PhantomData,
        })
    }

    /// A `CudaSlice` or `CudaViewMut` as a slice that kernels on this stream may write. The device waits for reads
    /// and writes of the memory on other streams. When the slice is dropped, cudarc registers the work queued until
    /// then as a writer of the memory.
    ///
    /// # Errors
    /// The errors of [`Self::slice`].
    pub fn slice_mut<'a, T: Element>(
        &'a self,
        memory: &'a mut impl CudarcMemoryMut<T>,
    ) -> Result<CudarcSliceMut<'a, T>, DeviceError> {
        self.check(memory)?;
        let len = memory.len() as u64;
        let (address, sync) = memory.device_ptr_mut(&self.theirs);
        let raw = self.raw(address, len);
        Ok(CudarcSliceMut {
            raw,
            _sync: sync,
            _elements: PhantomData,
        })
    }

    fn check<T>(&self, memory: &impl TheirSlice<T>) -> Result<(), DeviceError> {
        let (found, wanted) = (memory.stream().context(), self.theirs.context());
        if found == wanted {
            return Ok(());
        }
        Err(DeviceError::Unsupported {
            what: format!(
                "memory of a context of cuda:{} on a stream of a context of cuda:{}",
                found.ordinal(),
                wanted.ordinal()
            ),
        })
    }

    fn raw(&self, address: u64, len: u64) -> RawSlice {
        RawSlice {
            address,
            len,
            device_index: self.ours.device_index(),
            lent: Lent::borrowed(self.ours.id()),
        }
    }
}

/// cudarc memory that a kernel may read.
#[derive(Debug)]
pub struct CudarcSlice<'a, T> {
    raw: RawSlice,
    /// When dropped, registers the launches so far as readers.
    _sync: SyncOnDrop<'a>,
    _elements: PhantomData<&'a [T]>,
}

/// cudarc memory that a kernel may write.
#[derive(Debug)]
pub struct CudarcSliceMut<'a, T> {
    raw: RawSlice,
    /// When dropped, registers the launches so far as writers.
    _sync: SyncOnDrop<'a>,
    _elements: PhantomData<&'a mut [T]>,
}

impl<T> sealed::Sealed for CudarcSlice<'_, T> {}
impl<T> sealed::Sealed for CudarcSliceMut<'_, T> {}

impl<T> DeviceSlice<T> for CudarcSlice<'_, T> {
    #[inline]
    fn raw(&self) -> RawSlice {
        self.raw
    }
}

impl<T> DeviceSlice<T> for CudarcSliceMut<'_, T> {
    #[inline]
    fn raw(&self) -> RawSlice {
        self.raw
    }
}

impl<T> DeviceSliceMut<T> for CudarcSliceMut<'_, T> {}
