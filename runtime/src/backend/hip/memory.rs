//! Memory of AMD GPUs.

use std::ops::Range;
use std::sync::Arc;

use crate::device::{Allocation, DeviceError, StreamHandle};
use crate::launch_checks::{check_align, end_of_range};

use super::context::Context;
use super::ffi::DeviceMemory;
use super::status::Failure;

/// What the runtime aligns every allocation to, in bytes.
const RUNTIME_ALIGN: usize = 256;

/// One allocation.
#[derive(Debug)]
pub(super) struct HipMemory {
    context: Arc<Context>,
    /// Until it is freed.
    memory: Option<DeviceMemory>,
    /// From the start of the runtime's allocation to that of this, in bytes.
    start: usize,
    bytes: usize,
}

impl HipMemory {
    /// Memory of `bytes` zeroes aligned to `align`.
    pub fn new(
        context: &Arc<Context>,
        bytes: usize,
        align: usize,
    ) -> Result<HipMemory, DeviceError> {
        check_align(align)?;
        let slack = if align > RUNTIME_ALIGN { align } else { 0 };
        let room = bytes.checked_add(slack).ok_or_else(|| DeviceError::Oom {
            wanted_bytes: bytes as u64,
            text: "more than the address space holds".into(),
        })?;
        let place = &context.place;
        let memory = DeviceMemory::new(place, room).map_err(|failure| {
            let free = place.hip.memory_info().ok().map(|(free, _)| free);
            failure.memory_error(bytes, free)
        })?;
        let start = memory.address().next_multiple_of(align) - memory.address();
        if start + bytes > room {
            let text = format!(
                "{:#x} is not aligned to {RUNTIME_ALIGN} bytes",
                memory.address()
            );
            return Err(DeviceError::internal("hipMalloc", text));
        }
        let allocation = HipMemory {
            context: context.clone(),
            memory: Some(memory),
            start,
            bytes,
        };
        allocation.fill(StreamHandle::DEFAULT, 0, bytes, 0)?;
        Ok(allocation)
    }

    fn memory(&self) -> &DeviceMemory {
        self.memory.as_ref().expect("it is taken only on drop")
    }

    /// The runtime's allocation, and the range within it of a range within this.
    fn range(
        &self,
        offset: usize,
        bytes: usize,
    ) -> Result<(&DeviceMemory, Range<usize>), DeviceError> {
        let end = end_of_range(offset, bytes, self.bytes)?;
        Ok((self.memory(), self.start + offset..self.start + end))
    }
}

impl Allocation for HipMemory {
    fn address(&self) -> u64 {
        (self.memory().address() + self.start) as u64
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn device_index(&self) -> u32 {
        self.context.index
    }

    fn read(&self, stream: StreamHandle, offset: usize, out: &mut [u8]) -> Result<(), DeviceError> {
        let (memory, range) = self.range(offset, out.len())?;
        let stream = self.context.stream(stream)?;
        let read = memory.read(range.start, out, &stream);
        read.map_err(Failure::error)
    }

    fn write(&self, stream: StreamHandle, offset: usize, data: &[u8]) -> Result<(), DeviceError> {
        let (memory, range) = self.range(offset, data.len())?;
        let stream = self.context.stream(stream)?;
        let written = memory.write(range.start, data, &stream);
        written.map_err(Failure::error)
    }

    fn fill(
        &self,
        stream: StreamHandle,
        offset: usize,
        bytes: usize,
        value: u8,
    ) -> Result<(), DeviceError> {
        let (memory, range) = self.range(offset, bytes)?;
        let stream = self.context.stream(stream)?;
        let filled = memory.fill(range, value, &stream);
        filled.map_err(Failure::error)
    }
}

impl Drop for HipMemory {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take() {
            self.context.free(Box::new(memory));
        }
    }
}
