//! Reads the values of kernel arguments, for devices that execute kernels in this process.

mod ffi;

#[cfg(feature = "testing")]
pub(crate) use ffi::last_address;
pub(crate) use ffi::values;
