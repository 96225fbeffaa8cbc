//! Memory of a GPU. It is a part of a driver allocation, which is freed after nothing uses it any more.

use std::fmt;
use std::sync::Arc;

use crate::device::{Allocation, DeviceError, StreamHandle};
use crate::launch::checks::end_of_range;

use super::{Gpu, Memory as _};

/// One allocation of a GPU's memory.
pub(crate) struct GpuMemory<G: Gpu> {
    gpu: Arc<G>,
    /// The driver allocation; `None` after it is freed.
    memory: Option<G::Memory>,
    /// The offset of the data in the driver allocation, in bytes.
    start: usize,
    bytes: usize,
}

impl<G: Gpu> GpuMemory<G> {
    /// Zeroes `bytes` bytes at offset `start` of a driver allocation.
    pub fn zeroed(
        gpu: &Arc<G>,
        memory: G::Memory,
        start: usize,
        bytes: usize,
    ) -> Result<GpuMemory<G>, DeviceError> {
        let memory = GpuMemory {
            gpu: gpu.clone(),
            memory: Some(memory),
            start,
            bytes,
        };
        // The fill runs on the default stream and is waited for, so the memory is zero for every stream.
        memory.fill(StreamHandle::DEFAULT, 0, bytes, 0)?;
        Ok(memory)
    }

    fn memory(&self) -> &G::Memory {
        self.memory.as_ref().expect("it is taken only on drop")
    }

    /// The driver allocation, and the offset in it at which a range of this memory begins. Returns an error if the
    /// range is not inside the memory.
    fn range(&self, offset: usize, bytes: usize) -> Result<(&G::Memory, usize), DeviceError> {
        end_of_range(offset, bytes, self.bytes)?;
        Ok((self.memory(), self.start + offset))
    }
}

impl<G: Gpu> Allocation for GpuMemory<G> {
    fn address(&self) -> u64 {
        self.memory().address() + self.start as u64
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn device_index(&self) -> u32 {
        self.gpu.index()
    }

    fn read(&self, stream: StreamHandle, offset: usize, out: &mut [u8]) -> Result<(), DeviceError> {
        let (memory, at) = self.range(offset, out.len())?;
        let stream = self.gpu.open_stream(stream)?;
        let read = match out.len() {
            0 => self.gpu.wait_for(&stream),
            _ => memory.read(&stream, at, out),
        };
        read.map_err(|failure| G::error(failure, None))
    }

    fn write(&self, stream: StreamHandle, offset: usize, data: &[u8]) -> Result<(), DeviceError> {
        let (memory, at) = self.range(offset, data.len())?;
        let stream = self.gpu.open_stream(stream)?;
        let written = match data.len() {
            0 => self.gpu.wait_for(&stream),
            _ => memory.write(&stream, at, data),
        };
        written.map_err(|failure| G::error(failure, None))
    }

    fn fill(
        &self,
        stream: StreamHandle,
        offset: usize,
        bytes: usize,
        value: u8,
    ) -> Result<(), DeviceError> {
        let (memory, at) = self.range(offset, bytes)?;
        let stream = self.gpu.open_stream(stream)?;
        let filled = match bytes {
            0 => Ok(()),
            _ => memory.fill(&stream, at, bytes, value),
        };
        let done = filled.and_then(|()| self.gpu.wait_for(&stream));
        done.map_err(|failure| G::error(failure, None))
    }
}

impl<G: Gpu> Drop for GpuMemory<G> {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take() {
            self.gpu.free(memory);
        }
    }
}

impl<G: Gpu> fmt::Debug for GpuMemory<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GpuMemory")
            .field("start", &self.start)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}
