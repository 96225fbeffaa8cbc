//! All unsafe code of the hip backend: the functions of `libamdhip64` and `libhiprtc`, and owners of their objects.

mod hiprtc;
mod memory;
mod runtime;
mod work;

use std::sync::Arc;

pub(super) use hiprtc::{Hiprtc, HiprtcUnit};
pub(super) use memory::DeviceMemory;
pub(super) use runtime::{Hip, interface};
pub(super) use work::{HipEvent, HipGraph, LoadedCodeObject, LoadedKernel, OwnedStream};

/// The runtime library and one of its devices, to which the objects below belong.
#[derive(Clone, Debug)]
pub(super) struct HipPlace {
    /// The library.
    pub hip: Arc<Hip>,
    /// The device's number.
    pub ordinal: u32,
}
