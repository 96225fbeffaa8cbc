//! Work that keeps a GPU busy while the host queues the launches to be timed.
//!
//! An event on an idle stream is reached immediately. Everything that the host and the front end of the GPU need to
//! start the first launch after it (microseconds; tens of them for a recording) would then be part of the time. After
//! a filler, the event is reached when the filler ends, and the launches are queued by then.

use super::{Filler, Gpu, GpuGraph as _, Memory as _};

/// Number of small fills in a row. Each takes the front end one to five microseconds; together they last longer than
/// a host takes to queue two events and a recording.
const FILLS: usize = 40;

/// The memory that they write, in bytes: too little to evict anything from a cache.
const BYTES: usize = 256;

impl<G: Gpu> Filler<G> {
    /// Records it on a stream without other work.
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
