//! Work that keeps a GPU busy while the host queues the launches to be timed.
//!
//! An event on an idle stream is reached immediately. Without a filler, the measured time would therefore include the
//! time that the host and the front end of the GPU need to start the first launch after the event. That takes
//! microseconds, and tens of microseconds for a recording. If a filler is queued before the event, the event is reached
//! when the filler ends, and by then the launches are queued.

use super::{Filler, Gpu, GpuGraph as _, Memory as _};

/// Number of consecutive small fills. The front end needs one to five microseconds for each. Together they take
/// longer than a host needs to queue two events and a recording.
const FILLS: usize = 40;

/// The size in bytes of the memory that the fills write. It is too small to evict anything from a cache.
const BYTES: usize = 256;

impl<G: Gpu> Filler<G> {
    /// Records the fills on a stream that has no other work.
    pub fn new(gpu: &G, stream: &G::Stream) -> Result<Filler<G>, G::Failure> {
        let memory = gpu.new_memory(BYTES)?;
        gpu.begin_capture(stream)?;
        let filled = (0..FILLS).try_for_each(|_| memory.fill(stream, 0, BYTES, 0));
        let graph = gpu.end_capture(stream);
        filled?;
        let graph = graph?;
        graph.upload(stream)?;
        gpu.wait_for(stream)?;
        Ok(Filler {
            graph,
            _memory: memory,
        })
    }

    /// Queues the filler on a stream.
    pub fn launch(&self, stream: &G::Stream) -> Result<(), G::Failure> {
        self.graph.launch(stream)
    }
}
