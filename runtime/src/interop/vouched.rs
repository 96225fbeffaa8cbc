//! A type for streams that somebody has vouched for.

/// A stream that somebody has vouched for, so that a device can adopt it. Only [`crate::interop`] creates one.
#[derive(Debug)]
pub struct VouchedStream(u64);

impl VouchedStream {
    /// The stream with this handle; the caller of an `unsafe` function, or the library, vouches for it.
    pub(super) fn new(raw: u64) -> VouchedStream {
        VouchedStream(raw)
    }

    /// The driver's own handle, as a number.
    pub fn raw(&self) -> u64 {
        self.0
    }
}
