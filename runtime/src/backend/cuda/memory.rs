//! Memory of a CUDA device.

use std::fmt;
use std::sync::Arc;

use crate::device::{Allocation, DeviceError, StreamHandle};
use crate::launch_checks::{check_align, end_of_range};

use super::context::CudaContext;
use super::error::{device_error, of_call};
use super::ffi::{Failed, Memory};

/// The driver aligns every allocation to this many bytes at least.
const DRIVER_ALIGN: usize = 256;

/// One allocation.
pub(super) struct CudaMemory {
    context: Arc<CudaContext>,
    /// Until it is freed.
    memory: Option<Memory>,
    /// Where the data begins in it.
    start: usize,
    bytes: usize,
}

impl CudaMemory {
    /// Memory of zeros aligned to `align`.
    pub fn new(
        context: &Arc<CudaContext>,
        bytes: usize,
        align: usize,
    ) -> Result<CudaMemory, DeviceError> {
        check_align(align)?;
        let slack = if align > DRIVER_ALIGN { align } else { 0 };
        let room = bytes.max(1).saturating_add(slack);
        let memory = Memory::new(&context.raw, room)
            .map_err(|failed| of_allocation(context, bytes, &failed))?;
        let misaligned = (memory.address() % align as u64) as usize;
        let start = if misaligned == 0 {
            0
        } else {
            align - misaligned
        };
        CudaMemory::zeroed(context, memory, start, bytes)
    }

    /// As [`Self::new`], between addresses that fault; the end lies against them as closely as `align` allows.
    pub fn guarded(
        context: &Arc<CudaContext>,
        bytes: usize,
        align: usize,
    ) -> Result<CudaMemory, DeviceError> {
        check_align(align)?;
        let slack = if align > DRIVER_ALIGN { align } else { 0 };
        let room = bytes.max(1).saturating_add(slack);
        let memory = Memory::between_guards(&context.raw, room)
            .map_err(|failed| of_allocation(context, bytes, &failed))?;
        let end = memory.address() + memory.bytes() as u64;
        let first = (end - bytes as u64) / align as u64 * align as u64;
        let start = (first - memory.address()) as usize;
        CudaMemory::zeroed(context, memory, start, bytes)
    }

    fn zeroed(
        context: &Arc<CudaContext>,
        memory: Memory,
        start: usize,
        bytes: usize,
    ) -> Result<CudaMemory, DeviceError> {
        let memory = CudaMemory {
            context: context.clone(),
            memory: Some(memory),
            start,
            bytes,
        };
        // On the default stream and waited for: then it is zero for every stream.
        memory.fill(StreamHandle::DEFAULT, 0, bytes, 0)?;
        Ok(memory)
    }

    fn memory(&self) -> &Memory {
        self.memory.as_ref().expect("it is taken only on drop")
    }

    /// What the driver knows, and where in it a range begins.
    fn range(&self, offset: usize, bytes: usize) -> Result<(&Memory, usize), DeviceError> {
        end_of_range(offset, bytes, self.bytes)?;
        Ok((self.memory(), self.start + offset))
    }
}

/// An allocation's error, with what was asked for and what is free.
fn of_allocation(context: &CudaContext, bytes: usize, failed: &Failed) -> DeviceError {
    match device_error(failed, None) {
        DeviceError::Oom { text, .. } => {
            let free = context.raw.free_bytes();
            let free =
                free.map_or_else(|_| String::new(), |free| format!(", {free} bytes are free"));
            DeviceError::Oom {
                wanted_bytes: bytes as u64,
                text: format!("{text}{free}"),
            }
        }
        other => other,
    }
}

impl Allocation for CudaMemory {
    fn address(&self) -> u64 {
        self.memory().address() + self.start as u64
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn device_index(&self) -> u32 {
        self.context.device_index
    }

    fn read(&self, stream: StreamHandle, offset: usize, out: &mut [u8]) -> Result<(), DeviceError> {
        let (memory, at) = self.range(offset, out.len())?;
        if out.is_empty() {
            return self.context.synchronize_stream(stream);
        }
        let stream = self.context.streams.get(stream)?;
        memory.read(&stream, at, out).map_err(of_call)
    }

    fn write(&self, stream: StreamHandle, offset: usize, data: &[u8]) -> Result<(), DeviceError> {
        let (memory, at) = self.range(offset, data.len())?;
        if data.is_empty() {
            return self.context.synchronize_stream(stream);
        }
        let stream = self.context.streams.get(stream)?;
        memory.write(&stream, at, data).map_err(of_call)
    }

    fn fill(
        &self,
        stream: StreamHandle,
        offset: usize,
        bytes: usize,
        value: u8,
    ) -> Result<(), DeviceError> {
        let (memory, at) = self.range(offset, bytes)?;
        if bytes > 0 {
            self.context.with_stream(stream, |stream| {
                memory.fill(stream, at, bytes, value).map_err(of_call)
            })?;
        }
        self.context.synchronize_stream(stream)
    }
}

impl Drop for CudaMemory {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take() {
            self.context.free(Box::new(memory));
        }
    }
}

impl fmt::Debug for CudaMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaMemory")
            .field("address", &self.address())
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}
