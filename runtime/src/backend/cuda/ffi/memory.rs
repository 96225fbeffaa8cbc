//! Allocations of a CUDA device's memory.

use std::sync::Arc;

use super::super::numbers::{
    ACCESS_READ_WRITE, ALLOCATION_PINNED, GRANULARITY_MINIMUM, LOCATION_DEVICE,
};
use super::driver::{AccessDescription, AllocationProperties, Failed, MemLocation, PrimaryContext};
use super::work::RawStream;
use crate::backend::gpu;

/// Device memory, which is freed on drop.
///
/// Only copies and kernels access the memory, so the host never has a reference to it.
pub(in crate::backend::cuda) struct OwnedMemory {
    context: Arc<PrimaryContext>,
    address: u64,
    bytes: usize,
    /// The mapping of physical memory; `None` for a plain allocation.
    mapping: Option<PhysicalMapping>,
}

/// Physical memory that is mapped in the middle of a reserved address range.
struct PhysicalMapping {
    context: Arc<PrimaryContext>,
    /// The start of the reserved range.
    reserved: u64,
    reserved_bytes: usize,
    /// The physical memory; `None` before it is created.
    handle: Option<u64>,
    /// The start and size of the mapped range; `None` before the memory is mapped.
    mapped: Option<(u64, usize)>,
}

impl OwnedMemory {
    /// Allocates `bytes` uninitialised bytes.
    pub fn new(context: &Arc<PrimaryContext>, bytes: usize) -> Result<OwnedMemory, Failed> {
        let functions = context.enter()?;
        let mut address = 0;
        // SAFETY: the driver writes only to `address`, a local variable.
        let code = unsafe { (functions.alloc)(&raw mut address, bytes) };
        context.check("cuMemAlloc", code)?;
        Ok(OwnedMemory {
            context: context.clone(),
            address,
            bytes,
            mapping: None,
        })
    }

    /// Allocates whole pages with reserved but unmapped addresses on both sides. An access to these addresses faults.
    pub fn between_guards(
        context: &Arc<PrimaryContext>,
        bytes: usize,
    ) -> Result<OwnedMemory, Failed> {
        let functions = context.enter()?;
        let properties = properties(context.device());
        let mut page = 0;
        let least = GRANULARITY_MINIMUM;
        // SAFETY: `properties` is initialised, and the driver writes only to `page`, a local integer.
        let code = unsafe { (functions.granularity)(&raw mut page, &raw const properties, least) };
        context.check("cuMemGetAllocationGranularity", code)?;
        let bytes = bytes.next_multiple_of(page.max(1));
        let mapping = PhysicalMapping::new(context, bytes, page.max(1), &properties)?;
        Ok(OwnedMemory {
            context: context.clone(),
            address: mapping.reserved + page.max(1) as u64,
            bytes,
            mapping: Some(mapping),
        })
    }

    /// The size of the memory in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The address at which a range begins. Panics if the range is not inside the memory.
    fn at(&self, offset: usize, bytes: usize) -> u64 {
        let end = offset.checked_add(bytes);
        assert!(
            end.is_some_and(|end| end <= self.bytes),
            "the range should be inside the allocation"
        );
        self.address + offset as u64
    }
}

impl gpu::Memory<RawStream, Failed> for OwnedMemory {
    fn address(&self) -> u64 {
        self.address
    }

    fn read(&self, stream: &RawStream, offset: usize, out: &mut [u8]) -> Result<(), Failed> {
        let from = self.at(offset, out.len());
        let functions = self.context.enter()?;
        let to = out.as_mut_ptr().cast();
        // SAFETY: the source is inside the allocation and the target is borrowed exclusively. This function waits for
        // the copy before it returns.
        let code = unsafe { (functions.copy_out)(to, from, out.len(), stream.handle()) };
        let queued = self.context.check("cuMemcpyDtoHAsync", code);
        // Wait even if the call failed, because the copy may be partly in progress.
        queued.and(stream.synchronize(&self.context))
    }

    fn write(&self, stream: &RawStream, offset: usize, data: &[u8]) -> Result<(), Failed> {
        let to = self.at(offset, data.len());
        let functions = self.context.enter()?;
        let from = data.as_ptr().cast();
        // SAFETY: the target is inside the allocation. This function waits for the copy before it returns.
        let code = unsafe { (functions.copy_in)(to, from, data.len(), stream.handle()) };
        let queued = self.context.check("cuMemcpyHtoDAsync", code);
        queued.and(stream.synchronize(&self.context))
    }

    fn fill(
        &self,
        stream: &RawStream,
        offset: usize,
        bytes: usize,
        value: u8,
    ) -> Result<(), Failed> {
        let to = self.at(offset, bytes);
        let functions = self.context.enter()?;
        // SAFETY: the range is inside the allocation.
        let code = unsafe { (functions.set_bytes)(to, value, bytes, stream.handle()) };
        self.context.check("cuMemsetD8Async", code)
    }
}

impl Drop for OwnedMemory {
    fn drop(&mut self) {
        if self.mapping.is_some() {
            return;
        }
        let Ok(functions) = self.context.enter() else {
            return;
        };
        // SAFETY: this object allocated the memory. Whoever drops the object has waited for the work that uses the
        // memory.
        let _ = unsafe { (functions.free)(self.address) };
    }
}

impl PhysicalMapping {
    /// Reserves addresses for `bytes` and a page on either side, and maps memory in the middle.
    fn new(
        context: &Arc<PrimaryContext>,
        bytes: usize,
        page: usize,
        properties: &AllocationProperties,
    ) -> Result<PhysicalMapping, Failed> {
        let functions = context.enter()?;
        let reserved_bytes = bytes.saturating_add(2 * page);
        let mut reserved = 0;
        // SAFETY: the driver writes only to `reserved`, a local variable, and chooses the range itself.
        let code = unsafe { (functions.reserve)(&raw mut reserved, reserved_bytes, page, 0, 0) };
        context.check("cuMemAddressReserve", code)?;
        // From here on, dropping `mapping` undoes the steps that are done.
        let mut mapping = PhysicalMapping {
            context: context.clone(),
            reserved,
            reserved_bytes,
            handle: None,
            mapped: None,
        };
        let mut handle = 0;
        // SAFETY: the properties are initialised, and the driver writes only to `handle`, a local variable.
        let code = unsafe { (functions.create)(&raw mut handle, bytes, properties, 0) };
        context.check("cuMemCreate", code)?;
        mapping.handle = Some(handle);
        let middle = reserved + page as u64;
        // SAFETY: the range is inside the reserved range, and nothing is mapped there yet.
        let code = unsafe { (functions.map)(middle, bytes, 0, handle, 0) };
        context.check("cuMemMap", code)?;
        mapping.mapped = Some((middle, bytes));
        let access = AccessDescription {
            location: properties.location,
            flags: ACCESS_READ_WRITE,
        };
        // SAFETY: the range is mapped, and the call passes one description, `access`.
        let code = unsafe { (functions.set_access)(middle, bytes, &raw const access, 1) };
        context.check("cuMemSetAccess", code)?;
        Ok(mapping)
    }
}

impl Drop for PhysicalMapping {
    fn drop(&mut self) {
        let Ok(functions) = self.context.enter() else {
            return;
        };
        if let Some((start, bytes)) = self.mapped {
            // SAFETY: this object mapped the range, and nothing uses it any more.
            let _ = unsafe { (functions.unmap)(start, bytes) };
        }
        if let Some(handle) = self.handle {
            // SAFETY: this object created the physical memory behind `handle`.
            let _ = unsafe { (functions.release)(handle) };
        }
        // SAFETY: this object reserved the range, and nothing is mapped there any more.
        let _ = unsafe { (functions.unreserve)(self.reserved, self.reserved_bytes) };
    }
}

/// The properties of ordinary memory on one device.
fn properties(device: i32) -> AllocationProperties {
    AllocationProperties {
        kind: ALLOCATION_PINNED,
        handle_types: 0,
        location: MemLocation {
            kind: LOCATION_DEVICE,
            id: device,
        },
        win32_meta_data: std::ptr::null_mut(),
        flags: [0; 8],
    }
}
