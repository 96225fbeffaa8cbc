//! The calls that memory, recordings and timing need from a GPU. CUDA's driver and HIP's runtime both offer them.

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

/// One GPU of this process, with the calls of its driver.
pub(crate) trait Gpu: Send + Sync + Sized + 'static {
    /// A stream.
    type Stream;
    /// Memory that the driver allocated; freed on drop.
    type Memory: Memory<Self::Stream, Self::Failure>;
    /// A kernel of a loaded module.
    type Kernel;
    /// Recorded launches; used by only one thread at a time.
    type Graph: GpuGraph<Self::Stream, Self::Failure>;
    /// A point in a stream whose time is recorded.
    type Event: Event<Self::Stream, Self::Failure>;
    /// A call that failed.
    type Failure;

    /// The [`crate::device::DeviceBackend::index`] of the device.
    fn index(&self) -> u32;

    /// Its state between calls.
    fn kept(&self) -> &GpuState<Self>;

    /// The meaning of a failure; `symbol` is the kernel that was to be launched, if any.
    fn error(failure: Self::Failure, symbol: Option<&str>) -> DeviceError;

    /// Waits for everything on the device.
    fn wait(&self) -> Result<(), Self::Failure>;

    /// A new stream.
    fn new_stream(&self) -> Result<Self::Stream, Self::Failure>;

    /// The open stream of a handle.
    fn open_stream(&self, handle: StreamHandle) -> Result<Arc<Self::Stream>, DeviceError>;

    /// The driver's own handle of a stream.
    fn raw(stream: &Self::Stream) -> u64;

    /// Waits for a stream.
    fn wait_for(&self, stream: &Self::Stream) -> Result<(), Self::Failure>;

    /// Queues a launch for each set of arguments, one after another.
    fn launch_each<'a>(
        kernel: &Self::Kernel,
        stream: &Self::Stream,
        plan: &LaunchPlan,
        sets: impl Iterator<Item = KernelArgs<'a>>,
    ) -> Result<(), Self::Failure>;

    /// Starts recording the work that this thread queues on a stream, instead of running it.
    fn begin_capture(&self, stream: &Self::Stream) -> Result<(), Self::Failure>;

    /// Ends recording, and prepares the recorded work for launching.
    fn end_capture(&self, stream: &Self::Stream) -> Result<Self::Graph, Self::Failure>;

    /// Waits until a recording that may still be running can be dropped.
    fn wait_to_drop_graph(&self);

    /// New memory, uninitialised.
    fn new_memory(&self, bytes: usize) -> Result<Self::Memory, Self::Failure>;

    /// An event that records its time.
    fn new_event(&self) -> Result<Self::Event, Self::Failure>;

    /// Queues a copy from one place on the device to another. The source belongs to an argument that
    /// [`KernelArgs::new`] vouches for, the target is a variable of a loaded module, and both have this many bytes.
    fn copy_on_device(
        &self,
        stream: &Self::Stream,
        to: u64,
        from: u64,
        bytes: usize,
    ) -> Result<(), Self::Failure>;

    /// Drops memory or a module once nothing uses it: after the work queued so far, and after the last recording.
    fn free(&self, what: impl Send + 'static) {
        let freed = &self.kept().freed;
        freed.free(Box::new(what), || self.wait().is_ok());
    }

    /// Registers the beginning of a recording: nothing is freed until it is gone.
    fn recording_begins(&self) {
        self.kept().freed.recording_begins();
    }

    /// Registers the end of a recording's life, once for each that began.
    fn recording_is_gone(&self) {
        let freed = &self.kept().freed;
        freed.recording_is_gone(|| self.wait().is_ok());
    }
}

/// Memory that a driver allocated; freed on drop.
pub(crate) trait Memory<Stream, Failure>: Send + Sync + 'static {
    /// Its first address.
    fn address(&self) -> u64;

    /// Copies to the host after the earlier work of a stream; complete on return.
    fn read(&self, stream: &Stream, offset: usize, out: &mut [u8]) -> Result<(), Failure>;

    /// Copies from the host after the earlier work of a stream; complete on return.
    fn write(&self, stream: &Stream, offset: usize, data: &[u8]) -> Result<(), Failure>;

    /// Sets bytes after the earlier work of a stream; queued on return.
    fn fill(&self, stream: &Stream, offset: usize, bytes: usize, value: u8) -> Result<(), Failure>;
}

/// Recorded launches, ready to be launched together.
pub(crate) trait GpuGraph<Stream, Failure>: Send {
    /// Queues the upload to the device, if it can be done before the first launch.
    fn upload(&self, stream: &Stream) -> Result<(), Failure>;

    /// Queues all of it.
    fn launch(&self, stream: &Stream) -> Result<(), Failure>;
}

/// A point in a stream, with the time at which it was reached.
pub(crate) trait Event<Stream, Failure> {
    /// Marks the end of what a stream has queued so far.
    fn record(&self, stream: &Stream) -> Result<(), Failure>;

    /// Makes the later work of a stream wait until it is reached; the host does not wait.
    fn hold_back(&self, stream: &Stream) -> Result<(), Failure>;

    /// Waits until it is reached.
    fn synchronize(&self) -> Result<(), Failure>;

    /// Milliseconds from an earlier event to this one; both were reached.
    fn ms_since(&self, earlier: &Self) -> Result<f32, Failure>;
}

/// State of a GPU that streams, recordings and timing share between calls.
pub(crate) struct GpuState<G: Gpu> {
    /// The streams that are being recorded.
    pub recorded: RecordedStreams,
    /// State of timing.
    pub timer: Timer<G>,
    /// Objects that may not be freed yet.
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

/// State of timing between batches.
pub(crate) struct Timer<G: Gpu> {
    /// How batches are recorded.
    pub recorder: Recorder,
    /// Streams without a current batch.
    idle: Mutex<Vec<Lane<G>>>,
}

/// A stream of the timer's own. The caller's stream may be the default one, which cannot be recorded.
pub(crate) struct Lane<G: Gpu> {
    /// The stream.
    pub stream: G::Stream,
    /// Keeps it busy while a batch is queued.
    pub filler: Filler<G>,
}

/// A recording of work that keeps one stream busy.
pub(crate) struct Filler<G: Gpu> {
    // Dropped before the memory that it uses.
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
    /// The streams without a current batch.
    pub fn idle(&self) -> MutexGuard<'_, Vec<Lane<G>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
