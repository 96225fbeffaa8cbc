//! The HIP runtime's calls for memory, recordings and timing.

use std::sync::Arc;

use kiln_spec::LaunchPlan;

use crate::backend::gpu::{Gpu, GpuState};
use crate::device::{DeviceError, KernelArgs, StreamHandle};

use super::context::HipContext;
use super::ffi::{DeviceMemory, HipEvent, HipGraph, LoadedKernel, OwnedStream};
use super::status::HipFailure;

impl Gpu for HipContext {
    type Stream = OwnedStream;
    type Memory = DeviceMemory;
    type Kernel = LoadedKernel;
    type Graph = HipGraph;
    type Event = HipEvent;
    type Failure = HipFailure;

    fn index(&self) -> u32 {
        self.index
    }

    fn kept(&self) -> &GpuState<HipContext> {
        &self.kept
    }

    fn error(failure: HipFailure, symbol: Option<&str>) -> DeviceError {
        match symbol {
            Some(symbol) => failure.launch_error(symbol),
            None => failure.error(),
        }
    }

    fn wait(&self) -> Result<(), HipFailure> {
        self.place.hip.select(self.place.ordinal)?;
        self.place.hip.synchronize()
    }

    fn new_stream(&self) -> Result<OwnedStream, HipFailure> {
        OwnedStream::new(&self.place)
    }

    fn open_stream(&self, handle: StreamHandle) -> Result<Arc<OwnedStream>, DeviceError> {
        self.stream(handle)
    }

    fn raw(stream: &OwnedStream) -> u64 {
        stream.raw()
    }

    fn wait_for(&self, stream: &OwnedStream) -> Result<(), HipFailure> {
        stream.synchronize()
    }

    fn launch_each<'a>(
        kernel: &LoadedKernel,
        stream: &OwnedStream,
        plan: &LaunchPlan,
        mut sets: impl Iterator<Item = KernelArgs<'a>>,
    ) -> Result<(), HipFailure> {
        sets.try_for_each(|args| kernel.launch(plan, args, stream))
    }

    fn begin_capture(&self, stream: &OwnedStream) -> Result<(), HipFailure> {
        stream.begin_capture()
    }

    fn end_capture(&self, stream: &OwnedStream) -> Result<HipGraph, HipFailure> {
        stream.end_capture()
    }

    /// Waits for all work on the device, because a launch of the graph may still be running.
    fn wait_to_drop_graph(&self) {
        let _ = self.wait();
    }

    fn copy_on_device(
        &self,
        stream: &OwnedStream,
        to: u64,
        from: u64,
        bytes: usize,
    ) -> Result<(), HipFailure> {
        stream.copy_on_device(to, from, bytes)
    }

    fn new_memory(&self, bytes: usize) -> Result<DeviceMemory, HipFailure> {
        DeviceMemory::new(&self.place, bytes)
    }

    fn new_event(&self) -> Result<HipEvent, HipFailure> {
        HipEvent::new(&self.place)
    }
}
