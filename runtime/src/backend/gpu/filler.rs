//! Work that keeps a GPU busy while the host queues the launches to be timed.
//!
//! An event on an idle stream is reached at once, and everything that the host and the front end of the GPU need to begin
//! the first launch behind it (microseconds, tens of them for a recording) would be a part of the time. Behind a filler the
//! event is reached when the filler ends, and the launches are queued by then.

use super::{Filler, Gpu, GpuGraph as _, Memory as _};

/// Fills of a few bytes, one after the other: each takes the front end between one and five microseconds, together longer
/// than a host takes to queue two events and a recording.
const FILLS: usize = 40;

/// Memory that they go to, in bytes: too little to drive anything out of a cache.
const BYTES: usize = 256;

impl<G: Gpu> Filler<G> {
    /// Records it on a stream that nothing else is on.
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

    /// Queues it.
    pub fn launch(&self, stream: &G::Stream) -> Result<(), G::Failure> {
        self.graph.launch(stream)
    }
}
