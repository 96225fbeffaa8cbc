//! Allocation of memory on an AMD GPU.

use std::sync::Arc;

use crate::backend::gpu::Memory as _;
use crate::backend::gpu::memory::GpuMemory;
use crate::device::DeviceError;
use crate::launch::checks::check_align;

use super::context::HipContext;
use super::ffi::DeviceMemory;

/// Alignment of the runtime's allocations, in bytes.
const RUNTIME_ALIGN: usize = 256;

/// One allocation of an AMD GPU's memory.
pub(super) type HipMemory = GpuMemory<HipContext>;

/// Allocates `bytes` zeroed bytes that are aligned to `align`.
pub(super) fn alloc(
    context: &Arc<HipContext>,
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
    let start = memory.address().next_multiple_of(align as u64) - memory.address();
    let start = start as usize;
    if start + bytes > room {
        let text = format!(
            "{:#x} is not aligned to {RUNTIME_ALIGN} bytes",
            memory.address()
        );
        return Err(DeviceError::internal("hipMalloc", text));
    }
    HipMemory::zeroed(context, memory, start, bytes)
}
