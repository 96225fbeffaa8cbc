//! [`VouchedStream`], a handle that can be trusted to be an open stream.

/// The handle of a stream for which a caller or a library has vouched, so a device can adopt it. Only
/// [`crate::interop`] creates one.
#[derive(Debug)]
pub struct VouchedStream(u64);

impl VouchedStream {
    /// Wraps a stream's handle. The caller of an `unsafe` function, or the library, vouches for the handle.
    pub(super) fn new(raw: u64) -> VouchedStream {
        VouchedStream(raw)
    }

    /// The driver's own handle, as an integer.
    pub fn raw(&self) -> u64 {
        self.0
    }
}
