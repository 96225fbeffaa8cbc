//! Streams and memory of other libraries, which launch functions accept in the same way as Kiln's own.
//!
//! There are two ways to pass them to Kiln:
//!
//! - **Raw pointers.** [`stream_from_raw`], [`ForeignSlice::from_raw`] and [`ForeignSliceMut::from_raw`] accept what
//!   any library has: a `CUstream` or `hipStream_t`, or an address and a length. These functions are `unsafe`,
//!   because Kiln cannot check their arguments and the caller must vouch for them. A launch with the result is a safe
//!   call that checks lengths, alignments and devices.
//! - **Traits.** A library implements [`RawStream`] and [`DevicePointer`] once for its own types. Its users then call
//!   [`stream()`], [`slice()`] and [`slice_mut()`], which are safe. Kiln contains such an adapter for cudarc behind
//!   the feature `cudarc-019`; each supported minor version of cudarc has its own feature.
//!
//! Kernels of the cpu device run in the memory of the process. [`host_slice`] and [`host_slice_mut`] borrow that
//! memory without a copy and without `unsafe`.
//!
//! A [`ForeignSlice`] borrows the memory from which it was created, as a Rust slice does. A [`Stream`] keeps the
//! foreign stream from which it was created alive.
//!
//! Other libraries can use Kiln's own streams and memory: [`Stream::raw`] returns the driver's stream and
//! [`DeviceSlice::raw`] returns the address. docs/interop.md describes the order of work on several streams.

#[cfg(feature = "cudarc-019")]
pub mod cudarc_019;
mod slice;
mod stream;
mod vouched;

pub use slice::{
    DevicePointer, ForeignSlice, ForeignSliceMut, host_slice, host_slice_mut, slice, slice_mut,
};
pub use stream::{RawStream, stream, stream_from_raw};
pub use vouched::VouchedStream;

use std::fmt;

use kiln_spec::Backend;

use crate::device::{DeviceBackend, DeviceError};

#[cfg(doc)]
use crate::{data::buffer::DeviceSlice, device::stream::Stream};

/// The device to which a foreign stream or slice belongs: a backend, and the device's number in the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The backend of the device.
    pub backend: Backend,
    /// The number of the device among the backend's devices.
    pub ordinal: u32,
}

impl Place {
    /// The cpu device.
    pub const CPU: Place = Place {
        backend: Backend::Cpu,
        ordinal: 0,
    };

    /// The CUDA device with this number in `cuDeviceGet`.
    pub const fn cuda(ordinal: u32) -> Place {
        Place {
            backend: Backend::Cuda,
            ordinal,
        }
    }

    /// The HIP device with this number in `hipSetDevice`.
    pub const fn hip(ordinal: u32) -> Place {
        Place {
            backend: Backend::Hip,
            ordinal,
        }
    }

    /// The place of a device that Kiln opened.
    pub fn of(device: &dyn DeviceBackend) -> Place {
        let info = device.info();
        Place {
            backend: info.key.backend,
            ordinal: info.ordinal,
        }
    }

    /// Checks that a foreign object at this place belongs to `device`. `what` describes the object in the error.
    fn must_be(self, device: &dyn DeviceBackend, what: &str) -> Result<(), DeviceError> {
        let wanted = Place::of(device);
        if self == wanted {
            return Ok(());
        }
        Err(DeviceError::Unsupported {
            what: format!("{what} of {self} on a stream of {wanted}"),
        })
    }
}

/// Writes the name that [`crate::open`] accepts.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.backend {
            backend @ (Backend::Cpu | Backend::Fake) => backend.fmt(f),
            backend => write!(f, "{backend}:{}", self.ordinal),
        }
    }
}
