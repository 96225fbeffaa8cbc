//! Streams and memory of other libraries, which launch functions take like Kiln's own.
//!
//! There are two ways in:
//!
//! - **Raw pointers.** [`stream_from_raw`], [`ForeignSlice::from_raw`] and [`ForeignSliceMut::from_raw`] take what
//!   any library has: a `CUstream` or `hipStream_t`, an address and a length. They are `unsafe`, because none of
//!   these can be checked: the caller vouches for them there, and nowhere else. Launching stays a safe call that
//!   checks lengths, alignments and devices.
//! - **Traits.** A library implements [`RawStream`] and [`DevicePointer`] once for its own types; its users then call
//!   [`stream()`], [`slice()`] and [`slice_mut()`], which are safe. Kiln has adapters of this kind for cudarc, behind the
//!   feature `cudarc-019` (a feature for each minor version of cudarc that it knows).
//!
//! On the cpu device, memory is ordinary memory: [`host_slice`] and [`host_slice_mut`] borrow it without a copy and
//! without `unsafe`.
//!
//! A [`ForeignSlice`] borrows the memory it was created from, as a Rust slice does; a [`Stream`] keeps the stream it
//! was created from.
//!
//! Other libraries can use Kiln's own streams and memory: [`Stream::raw`] returns the driver's stream,
//! [`DeviceSlice::raw`] the address. See docs/interop.md for the order of work on several streams.

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

/// The device of a foreign stream or slice: a backend, and the device's number in its driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The backend.
    pub backend: Backend,
    /// The number among the backend's devices.
    pub ordinal: u32,
}

impl Place {
    /// The host processor.
    pub const CPU: Place = Place {
        backend: Backend::Cpu,
        ordinal: 0,
    };

    /// The CUDA device with this number, as `cuDeviceGet` counts.
    pub const fn cuda(ordinal: u32) -> Place {
        Place {
            backend: Backend::Cuda,
            ordinal,
        }
    }

    /// The HIP device with this number, as `hipSetDevice` counts.
    pub const fn hip(ordinal: u32) -> Place {
        Place {
            backend: Backend::Hip,
            ordinal,
        }
    }

    /// The place of one of Kiln's devices.
    pub fn of(device: &dyn DeviceBackend) -> Place {
        let info = device.info();
        Place {
            backend: info.key.backend,
            ordinal: info.ordinal,
        }
    }

    /// Checks that a foreign object at this place belongs to a device.
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

/// The name that [`crate::open`] takes.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.backend {
            backend @ (Backend::Cpu | Backend::Fake) => backend.fmt(f),
            backend => write!(f, "{backend}:{}", self.ordinal),
        }
    }
}
