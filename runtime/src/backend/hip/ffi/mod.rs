//! All unsafe code of the hip backend: the functions of `libamdhip64` and `libhiprtc`, and types that own their
//! objects.

mod hiprtc;
mod memory;
mod runtime;
mod work;

use std::sync::Arc;

pub(super) use hiprtc::{Hiprtc, HiprtcUnit};
pub(super) use memory::DeviceMemory;
pub(super) use runtime::{Hip, interface};
pub(super) use work::{HipEvent, HipGraph, LoadedCodeObject, LoadedKernel, OwnedStream};

/// The runtime library and the device in it to which an object belongs.
#[derive(Clone, Debug)]
pub(super) struct HipPlace {
    /// The runtime library.
    pub hip: Arc<Hip>,
    /// The number of the device in the runtime.
    pub ordinal: u32,
}
