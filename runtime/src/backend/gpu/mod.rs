//! The driver calls that memory, recordings and timing need. Both CUDA's driver and HIP's runtime provide them.

pub(crate) mod batch;
pub(crate) mod constants;
pub(crate) mod ffi;
pub(crate) mod filler;
pub(crate) mod freed;
pub(crate) mod memory;
pub(crate) mod recorded_streams;
pub(crate) mod recording;
pub(crate) mod timer;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kiln_spec::LaunchPlan;

use crate::device::{DeviceError, KernelArgs, StreamHandle};

use self::batch::Recorder;
use self::freed::Freed;
use self::recorded_streams::RecordedStreams;

/// One GPU of this process, and the calls of its driver.
pub(crate) trait Gpu: Send + Sync + Sized + 'static {
    /// A stream of the driver.
    type Stream;
    /// Memory that the driver allocated. It is freed on drop.
    type Memory: Memory<Self::Stream, Self::Failure>;
    /// A kernel of a loaded module.
    type Kernel;
    /// Recorded launches. Only one thread at a time may use them.
    type Graph: GpuGraph<Self::Stream, Self::Failure>;
    /// A point in a stream whose time is recorded.
    type Event: Event<Self::Stream, Self::Failure>;
    /// The error of a driver call.
    type Failure;

    /// The [`crate::device::DeviceBackend::index`] of the device.
    fn index(&self) -> u32;

    /// The state of the GPU that is kept between calls.
    fn kept(&self) -> &GpuState<Self>;

    /// Converts a failure of the driver. `symbol` is the kernel that was to be launched, if the call was a launch.
    fn error(failure: Self::Failure, symbol: Option<&str>) -> DeviceError;

    /// Waits for all work on the device.
    fn wait(&self) -> Result<(), Self::Failure>;

    /// Opens a new stream.
    fn new_stream(&self) -> Result<Self::Stream, Self::Failure>;

    /// The open stream with this handle.
    fn open_stream(&self, handle: StreamHandle) -> Result<Arc<Self::Stream>, DeviceError>;

    /// The driver's own handle of a stream.
    fn raw(stream: &Self::Stream) -> u64;

    /// Waits for all work on a stream.
    fn wait_for(&self, stream: &Self::Stream) -> Result<(), Self::Failure>;

    /// Queues one launch for each set of arguments, in order.
    fn launch_each<'a>(
        kernel: &Self::Kernel,
        stream: &Self::Stream,
        plan: &LaunchPlan,
        sets: impl Iterator<Item = KernelArgs<'a>>,
    ) -> Result<(), Self::Failure>;

    /// Starts recording the work that this thread queues on a stream. The work is recorded instead of run.
    fn begin_capture(&self, stream: &Self::Stream) -> Result<(), Self::Failure>;

    /// Ends recording and prepares the recorded work for launching.
    fn end_capture(&self, stream: &Self::Stream) -> Result<Self::Graph, Self::Failure>;

    /// Called before a recording is dropped, because one of its launches may still be running. Waits for the launch if
    /// the driver does not keep the recording until then.
    fn wait_to_drop_graph(&self);

    /// Allocates uninitialised memory.
    fn new_memory(&self, bytes: usize) -> Result<Self::Memory, Self::Failure>;

    /// Creates an event that records the time at which it is reached.
    fn new_event(&self) -> Result<Self::Event, Self::Failure>;

    /// Queues a copy of `bytes` bytes from one device address to another. The source belongs to an argument for which
    /// the caller of [`KernelArgs::new`] vouched. The target is a variable of a loaded module. Both have at least this
    /// size.
    fn copy_on_device(
        &self,
        stream: &Self::Stream,
        to: u64,
        from: u64,
        bytes: usize,
    ) -> Result<(), Self::Failure>;

    /// Drops memory or a module once nothing uses it any more, that is, once the work queued so far is done and the
    /// last recording has been dropped.
    fn free(&self, what: impl Send + 'static) {
        let freed = &self.kept().freed;
        freed.free(Box::new(what), || self.wait().is_ok());
    }

    /// Registers the beginning of a recording. Until the recording is dropped, nothing is freed.
    fn recording_begins(&self) {
        self.kept().freed.recording_begins();
    }

    /// Registers that a recording was dropped. Must be called once for each recording that began.
    fn recording_is_gone(&self) {
        let freed = &self.kept().freed;
        freed.recording_is_gone(|| self.wait().is_ok());
    }
}

/// Memory that a driver allocated. It is freed on drop.
pub(crate) trait Memory<Stream, Failure>: Send + Sync + 'static {
    /// The first address of the memory.
    fn address(&self) -> u64;

    /// Copies to the host, after the earlier work of a stream. The copy is complete on return.
    fn read(&self, stream: &Stream, offset: usize, out: &mut [u8]) -> Result<(), Failure>;

    /// Copies from the host, after the earlier work of a stream. The copy is complete on return.
    fn write(&self, stream: &Stream, offset: usize, data: &[u8]) -> Result<(), Failure>;

    /// Sets bytes, after the earlier work of a stream. On return, the operation is queued but may not be complete.
    fn fill(&self, stream: &Stream, offset: usize, bytes: usize, value: u8) -> Result<(), Failure>;
}

/// Recorded launches that are ready to be launched together.
pub(crate) trait GpuGraph<Stream, Failure>: Send {
    /// Queues the upload of the recording to the device, if the driver can upload before the first launch.
    fn upload(&self, stream: &Stream) -> Result<(), Failure>;

    /// Queues all recorded launches.
    fn launch(&self, stream: &Stream) -> Result<(), Failure>;
}

/// A point in a stream. It records the time at which the stream reaches it.
pub(crate) trait Event<Stream, Failure> {
    /// Queues the event, so it is reached after everything that the stream has queued so far.
    fn record(&self, stream: &Stream) -> Result<(), Failure>;

    /// Makes the later work of a stream wait until the event is reached. The host does not wait.
    fn hold_back(&self, stream: &Stream) -> Result<(), Failure>;

    /// Waits until the event is reached.
    fn synchronize(&self) -> Result<(), Failure>;

    /// Milliseconds from an earlier event to this one. Both must have been reached.
    fn ms_since(&self, earlier: &Self) -> Result<f32, Failure>;
}

/// The state of a GPU that streams, recordings and timing keep between calls.
pub(crate) struct GpuState<G: Gpu> {
    /// The streams that are being recorded.
    pub recorded: RecordedStreams,
    /// The state of timing.
    pub timer: Timer<G>,
    /// Objects that were freed but must not be dropped yet.
    pub freed: Freed,
}

impl<G: Gpu> Default for GpuState<G> {
    fn default() -> GpuState<G> {
        GpuState {
            recorded: RecordedStreams::default(),
            timer: Timer::default(),
            freed: Freed::default(),
        }
    }
}

/// The state of timing that is kept between batches.
pub(crate) struct Timer<G: Gpu> {
    /// Whether batches are recorded.
    pub recorder: Recorder,
    /// Streams that no batch currently uses.
    idle: Mutex<Vec<Lane<G>>>,
}

/// A stream that belongs to the timer. The timer has its own streams because the caller's stream may be the default
/// stream, which cannot be recorded.
pub(crate) struct Lane<G: Gpu> {
    /// The stream.
    pub stream: G::Stream,
    /// Keeps the stream busy while a batch is queued.
    pub filler: Filler<G>,
}

/// A recording of work that keeps one stream busy.
pub(crate) struct Filler<G: Gpu> {
    // This field comes first, so the graph is dropped before the memory that it uses.
    pub(super) graph: G::Graph,
    pub(super) _memory: G::Memory,
}

impl<G: Gpu> Default for Timer<G> {
    fn default() -> Timer<G> {
        Timer {
            recorder: Recorder::default(),
            idle: Mutex::default(),
        }
    }
}

impl<G: Gpu> Timer<G> {
    /// The streams that no batch currently uses.
    pub fn idle(&self) -> MutexGuard<'_, Vec<Lane<G>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
