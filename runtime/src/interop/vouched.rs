//! The mark of a stream that somebody has vouched for.

/// A stream that somebody has vouched for: what a device takes in. Only [`crate::interop`] makes one.
#[derive(Debug)]
pub struct VouchedStream(u64);

impl VouchedStream {
    /// The stream of that handle, which the caller of an `unsafe` function or the library vouches for.
    pub(super) fn new(raw: u64) -> VouchedStream {
        VouchedStream(raw)
    }

    /// The driver's own handle, as a number.
    pub fn raw(&self) -> u64 {
        self.0
    }
}
