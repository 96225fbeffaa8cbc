//! The runtime's calls for memory, recordings and timing.

use std::sync::Arc;

use kiln_spec::LaunchPlan;

use crate::backend::gpu::{Gpu, Kept};
use crate::device::{DeviceError, KernelArgs, StreamHandle};

use super::context::Context;
use super::ffi::{DeviceMemory, Event, Graph, LoadedKernel, OwnedStream};
use super::status::Failure;

impl Gpu for Context {
    type Stream = OwnedStream;
    type Memory = DeviceMemory;
    type Kernel = LoadedKernel;
    type Graph = Graph;
    type Event = Event;
    type Failure = Failure;

    fn index(&self) -> u32 {
        self.index
    }

    fn kept(&self) -> &Kept<Context> {
        &self.kept
    }

    fn error(failure: Failure, symbol: Option<&str>) -> DeviceError {
        match symbol {
            Some(symbol) => failure.launch_error(symbol),
            None => failure.error(),
        }
    }

    fn wait(&self) -> Result<(), Failure> {
        self.place.hip.select(self.place.ordinal)?;
        self.place.hip.synchronize()
    }

    fn new_stream(&self) -> Result<OwnedStream, Failure> {
        OwnedStream::new(&self.place)
    }

    fn open_stream(&self, handle: StreamHandle) -> Result<Arc<OwnedStream>, DeviceError> {
        self.stream(handle)
    }

    fn raw(stream: &OwnedStream) -> u64 {
        stream.raw()
    }

    fn wait_for(&self, stream: &OwnedStream) -> Result<(), Failure> {
        stream.synchronize()
    }

    fn launch_each<'a>(
        kernel: &LoadedKernel,
        stream: &OwnedStream,
        plan: &LaunchPlan,
        mut sets: impl Iterator<Item = KernelArgs<'a>>,
    ) -> Result<(), Failure> {
        sets.try_for_each(|args| kernel.launch(plan, args, stream))
    }

    fn begin_capture(&self, stream: &OwnedStream) -> Result<(), Failure> {
        stream.begin_capture()
    }

    fn end_capture(&self, stream: &OwnedStream) -> Result<Graph, Failure> {
        stream.end_capture()
    }

    /// It may still be running.
    fn wait_to_drop_graph(&self) {
        let _ = self.wait();
    }

    fn copy_on_device(
        &self,
        stream: &OwnedStream,
        to: u64,
        from: u64,
        bytes: usize,
    ) -> Result<(), Failure> {
        stream.copy_on_device(to, from, bytes)
    }

    fn new_memory(&self, bytes: usize) -> Result<DeviceMemory, Failure> {
        DeviceMemory::new(&self.place, bytes)
    }

    fn new_event(&self) -> Result<Event, Failure> {
        Event::new(&self.place)
    }
}
