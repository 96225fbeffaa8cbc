//! Allocation of memory on a CUDA device.

use std::sync::Arc;

use crate::backend::gpu::Memory as _;
use crate::backend::gpu::memory::GpuMemory;
use crate::device::{DeviceError, ErrorClass};
use crate::launch::checks::check_align;

use super::context::CudaContext;
use super::error::device_error;
use super::ffi::{Failed, OwnedMemory};

/// Minimum alignment of the driver's allocations, in bytes.
const DRIVER_ALIGN: usize = 256;

/// One allocation of a CUDA device's memory.
pub(super) type CudaMemory = GpuMemory<CudaContext>;

/// Allocates zeroed memory that is aligned to `align`. `most` is the size of the device's memory in bytes.
pub(super) fn alloc(
    context: &Arc<CudaContext>,
    bytes: usize,
    align: usize,
    most: u64,
) -> Result<CudaMemory, DeviceError> {
    let room = room(bytes, align)?;
    // If a size exceeds the memory of every device, the driver reports only an invalid value.
    if room as u64 > most {
        return Err(DeviceError::Oom {
            wanted_bytes: bytes as u64,
            text: format!("the device has {most} bytes{}", free_text(context)),
        });
    }
    let memory = OwnedMemory::new(&context.raw, room)
        .map_err(|failed| of_allocation(context, bytes, &failed))?;
    let misaligned = (memory.address() % align as u64) as usize;
    let start = if misaligned == 0 {
        0
    } else {
        align - misaligned
    };
    CudaMemory::zeroed(context, memory, start, bytes)
}

/// Like [`alloc`], but with inaccessible addresses on both sides. The end of the memory is as close to them as
/// `align` allows.
pub(super) fn alloc_guarded(
    context: &Arc<CudaContext>,
    bytes: usize,
    align: usize,
) -> Result<CudaMemory, DeviceError> {
    let memory = OwnedMemory::between_guards(&context.raw, room(bytes, align)?)
        .map_err(|failed| of_guarded_allocation(context, bytes, &failed))?;
    let end = memory.address() + memory.bytes() as u64;
    let first = (end - bytes as u64) / align as u64 * align as u64;
    let start = (first - memory.address()) as usize;
    CudaMemory::zeroed(context, memory, start, bytes)
}

/// The size to request from the driver in bytes. It has room to align the start.
fn room(bytes: usize, align: usize) -> Result<usize, DeviceError> {
    check_align(align)?;
    let slack = if align > DRIVER_ALIGN { align } else { 0 };
    Ok(bytes.max(1).saturating_add(slack))
}

/// The error of a failed allocation, with the requested size and the free memory.
fn of_allocation(context: &CudaContext, bytes: usize, failed: &Failed) -> DeviceError {
    match device_error(failed, None) {
        DeviceError::Oom { text, .. } => DeviceError::Oom {
            wanted_bytes: bytes as u64,
            text: format!("{text}{}", free_text(context)),
        },
        other => other,
    }
}

/// Like [`of_allocation`], for guarded memory. A sandbox or a virtual GPU may not permit mapping memory and returns
/// various error codes. Therefore any error after which the context is usable means that guarded memory is not
/// supported.
fn of_guarded_allocation(context: &CudaContext, bytes: usize, failed: &Failed) -> DeviceError {
    let error = of_allocation(context, bytes, failed);
    match error.class() {
        ErrorClass::Oom | ErrorClass::Sticky | ErrorClass::Hang | ErrorClass::DeviceLost => error,
        _ => DeviceError::Unsupported {
            what: format!("guarded memory ({})", failed.text),
        },
    }
}

/// The amount of free memory, for an error message; empty if the driver does not report it.
fn free_text(context: &CudaContext) -> String {
    let free = context.raw.free_bytes();
    free.map_or_else(|_| String::new(), |free| format!(", {free} bytes are free"))
}
