//! Memory of a CUDA device.

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

/// One allocation.
pub(super) type CudaMemory = GpuMemory<CudaContext>;

/// Zeroed memory aligned to `align`, on a device that has `most` bytes.
pub(super) fn alloc(
    context: &Arc<CudaContext>,
    bytes: usize,
    align: usize,
    most: u64,
) -> Result<CudaMemory, DeviceError> {
    let room = room(bytes, align)?;
    // For a size that no device has, the driver reports an invalid value.
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

/// Like [`alloc`], between addresses that fault; the end is as close to them as `align` allows.
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

/// The size to request from the driver, so that an aligned start still has all its bytes after it.
fn room(bytes: usize, align: usize) -> Result<usize, DeviceError> {
    check_align(align)?;
    let slack = if align > DRIVER_ALIGN { align } else { 0 };
    Ok(bytes.max(1).saturating_add(slack))
}

/// The error of an allocation, with the requested and the free memory.
fn of_allocation(context: &CudaContext, bytes: usize, failed: &Failed) -> DeviceError {
    match device_error(failed, None) {
        DeviceError::Oom { text, .. } => DeviceError::Oom {
            wanted_bytes: bytes as u64,
            text: format!("{text}{}", free_text(context)),
        },
        other => other,
    }
}

/// Like [`of_allocation`]. A sandbox or a virtual GPU refuses to map memory with its own error codes: any error that
/// leaves the context usable means that guarded memory is not supported.
fn of_guarded_allocation(context: &CudaContext, bytes: usize, failed: &Failed) -> DeviceError {
    let error = of_allocation(context, bytes, failed);
    match error.class() {
        ErrorClass::Oom | ErrorClass::Sticky | ErrorClass::Hang | ErrorClass::DeviceLost => error,
        _ => DeviceError::Unsupported {
            what: format!("guarded memory ({})", failed.text),
        },
    }
}

/// The amount of free memory, if the driver reports it.
fn free_text(context: &CudaContext) -> String {
    let free = context.raw.free_bytes();
    free.map_or_else(|_| String::new(), |free| format!(", {free} bytes are free"))
}
