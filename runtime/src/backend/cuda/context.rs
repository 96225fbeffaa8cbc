//! The shared state of one CUDA device: the driver's context, the open streams, and objects that may not be freed
//! yet.

use std::fmt;
use std::sync::Arc;

use crate::backend::gpu::GpuState;
use crate::device::{DeviceError, StreamHandle};

use super::error::of_call;
use super::ffi::{PrimaryContext, RawStream};
use super::stream::Streams;

/// The context of one device, with the streams and the state that this process keeps for the device.
pub(super) struct CudaContext {
    /// The driver's context.
    pub raw: Arc<PrimaryContext>,
    /// The open streams.
    pub streams: Streams,
    /// The [`crate::device::DeviceBackend::index`] of the device.
    pub device_index: u32,
    /// The state of recordings and timing.
    pub kept: GpuState<CudaContext>,
}

impl CudaContext {
    pub fn new(raw: Arc<PrimaryContext>, device_index: u32) -> CudaContext {
        CudaContext {
            raw,
            streams: Streams::new(),
            device_index,
            kept: GpuState::default(),
        }
    }

    /// Waits until all work of one stream is done.
    pub fn synchronize_stream(&self, stream: StreamHandle) -> Result<(), DeviceError> {
        let stream = self.streams.get(stream)?;
        stream.synchronize(&self.raw).map_err(of_call)
    }

    /// Calls a function with a stream. The function must not wait.
    #[inline]
    pub fn with_stream<T>(
        &self,
        stream: StreamHandle,
        act: impl FnOnce(&RawStream) -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        self.streams.with(stream, act)
    }
}

impl fmt::Debug for CudaContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaContext")
            .field("device_index", &self.device_index)
            .finish_non_exhaustive()
    }
}
