//! The driver's calls for memory, recordings and timing.

use std::sync::Arc;

use kiln_spec::LaunchPlan;

use crate::backend::gpu::{Gpu, GpuState};
use crate::device::{DeviceError, KernelArgs, StreamHandle};

use super::context::CudaContext;
use super::error::device_error;
use super::ffi::{CudaEvent, Failed, OwnedMemory, RawFunction, RawGraph, RawStream};

impl Gpu for CudaContext {
    type Stream = RawStream;
    type Memory = OwnedMemory;
    type Kernel = RawFunction;
    type Graph = RawGraph;
    type Event = CudaEvent;
    type Failure = Failed;

    fn index(&self) -> u32 {
        self.device_index
    }

    fn kept(&self) -> &GpuState<CudaContext> {
        &self.kept
    }

    fn error(failed: Failed, symbol: Option<&str>) -> DeviceError {
        device_error(&failed, symbol)
    }

    fn wait(&self) -> Result<(), Failed> {
        self.raw.synchronize()
    }

    fn new_stream(&self) -> Result<RawStream, Failed> {
        RawStream::new(&self.raw)
    }

    fn open_stream(&self, handle: StreamHandle) -> Result<Arc<RawStream>, DeviceError> {
        self.streams.get(handle)
    }

    fn raw(stream: &RawStream) -> u64 {
        stream.raw()
    }

    fn wait_for(&self, stream: &RawStream) -> Result<(), Failed> {
        stream.synchronize(&self.raw)
    }

    fn launch_each<'a>(
        kernel: &RawFunction,
        stream: &RawStream,
        plan: &LaunchPlan,
        sets: impl Iterator<Item = KernelArgs<'a>>,
    ) -> Result<(), Failed> {
        kernel.launch_each(stream, plan, sets)
    }

    fn begin_capture(&self, stream: &RawStream) -> Result<(), Failed> {
        stream.begin_capture(&self.raw)
    }

    fn end_capture(&self, stream: &RawStream) -> Result<RawGraph, Failed> {
        stream.end_capture(&self.raw)
    }

    /// Does nothing, because the driver keeps a graph that is still running. Kiln keeps the memory and modules that the
    /// graph's launches use until the launches are done.
    fn wait_to_drop_graph(&self) {}

    fn copy_on_device(
        &self,
        stream: &RawStream,
        to: u64,
        from: u64,
        bytes: usize,
    ) -> Result<(), Failed> {
        stream.copy_on_device(&self.raw, to, from, bytes)
    }

    fn new_memory(&self, bytes: usize) -> Result<OwnedMemory, Failed> {
        OwnedMemory::new(&self.raw, bytes)
    }

    fn new_event(&self) -> Result<CudaEvent, Failed> {
        CudaEvent::new(&self.raw)
    }
}
