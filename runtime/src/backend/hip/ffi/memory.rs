//! Allocations of an AMD GPU's memory.

use std::ffi::c_void;
use std::ops::Range;

use super::{HipPlace, OwnedStream};
use crate::backend::gpu;
use crate::backend::hip::status::HipFailure;
use crate::backend::hip::types::CopyKind;

/// Device memory, which is freed on drop.
#[derive(Debug)]
pub(in crate::backend::hip) struct DeviceMemory {
    place: HipPlace,
    start: usize,
    bytes: usize,
}

impl DeviceMemory {
    /// Allocates `bytes` uninitialised bytes, or one byte if `bytes` is 0.
    pub fn new(place: &HipPlace, bytes: usize) -> Result<DeviceMemory, HipFailure> {
        place.hip.select(place.ordinal)?;
        let mut start = std::ptr::null_mut();
        // SAFETY: `hipMalloc` writes one pointer, to `start`.
        let status = unsafe { (place.hip.table.hipMalloc)(&raw mut start, bytes.max(1)) };
        place.hip.check("hipMalloc", status)?;
        Ok(DeviceMemory {
            place: place.clone(),
            start: start as usize,
            bytes,
        })
    }

    /// The address at which a range begins. Panics if the range is not inside the memory.
    fn pointer(&self, range: &Range<usize>) -> *mut c_void {
        assert!(
            range.start <= range.end && range.end <= self.bytes,
            "the range should be inside the allocation"
        );
        (self.start + range.start) as *mut c_void
    }

    /// Copies bytes and waits for the copy. The caller must borrow both ranges until this function returns.
    fn copy(
        &self,
        to: *mut c_void,
        from: *const c_void,
        bytes: usize,
        kind: CopyKind,
        stream: &OwnedStream,
    ) -> Result<(), HipFailure> {
        let hip = &self.place.hip;
        hip.select(self.place.ordinal)?;
        // SAFETY: one side is a range inside this allocation. The other side is a slice that the caller of `read` or
        // `write` borrows until the copy is done, and this function waits for the copy below.
        let status = unsafe { (hip.table.hipMemcpyAsync)(to, from, bytes, kind, stream.raw) };
        hip.check("hipMemcpyAsync", status)?;
        stream.synchronize().inspect_err(|_| {
            // The copy must not continue after the lifetime of the slice.
            let _ = hip.synchronize();
        })
    }
}

impl gpu::Memory<OwnedStream, HipFailure> for DeviceMemory {
    fn address(&self) -> u64 {
        self.start as u64
    }

    fn fill(
        &self,
        stream: &OwnedStream,
        offset: usize,
        bytes: usize,
        value: u8,
    ) -> Result<(), HipFailure> {
        let hip = &self.place.hip;
        hip.select(self.place.ordinal)?;
        let to = self.pointer(&(offset..offset + bytes));
        // SAFETY: the range is inside this allocation, and the stream is alive.
        let status = unsafe { (hip.table.hipMemsetAsync)(to, value.into(), bytes, stream.raw) };
        hip.check("hipMemsetAsync", status)
    }

    fn read(&self, stream: &OwnedStream, offset: usize, out: &mut [u8]) -> Result<(), HipFailure> {
        let from = self.pointer(&(offset..offset + out.len()));
        self.copy(
            out.as_mut_ptr().cast(),
            from,
            out.len(),
            CopyKind::TO_HOST,
            stream,
        )
    }

    fn write(&self, stream: &OwnedStream, offset: usize, data: &[u8]) -> Result<(), HipFailure> {
        let to = self.pointer(&(offset..offset + data.len()));
        self.copy(
            to,
            data.as_ptr().cast(),
            data.len(),
            CopyKind::TO_DEVICE,
            stream,
        )
    }
}

impl Drop for DeviceMemory {
    /// Waits for the device's work, which may use the memory, and then frees the memory.
    fn drop(&mut self) {
        if self.place.hip.select(self.place.ordinal).is_ok() {
            // SAFETY: the memory belongs to this object, and `hipFree` waits for everything that is queued on the
            // device.
            let _ = unsafe { (self.place.hip.table.hipFree)(self.start as *mut c_void) };
        }
    }
}
