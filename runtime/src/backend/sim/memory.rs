//! Allocations in the simulator's memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kiln_sim::Memory;

use crate::device::{Allocation, DeviceError, StreamHandle};
use crate::launch::checks::{check_align, end_of_range};

/// The memory of one device, and how much of it is allocated.
#[derive(Debug)]
pub(super) struct SimMemory {
    pub(super) memory: Memory,
    used_bytes: AtomicU64,
    max_bytes: u64,
}

impl SimMemory {
    pub(super) fn new(max_bytes: u64) -> SimMemory {
        SimMemory {
            memory: Memory::default(),
            used_bytes: AtomicU64::new(0),
            max_bytes,
        }
    }

    pub(super) fn alloc(
        self: &Arc<Self>,
        bytes: usize,
        align: usize,
        device_index: u32,
    ) -> Result<SimAllocation, DeviceError> {
        check_align(align)?;
        let wanted_bytes = bytes as u64;
        let take = |used: u64| {
            let sum = used.checked_add(wanted_bytes)?;
            (sum <= self.max_bytes).then_some(sum)
        };
        let taken = self
            .used_bytes
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        taken.map_err(|used| DeviceError::Oom {
            wanted_bytes,
            text: format!("{} bytes free", self.max_bytes - used),
        })?;
        Ok(SimAllocation {
            address: self.memory.alloc_aligned(bytes, align),
            memory: self.clone(),
            bytes,
            device_index,
        })
    }
}

/// An allocation of a simulated device.
#[derive(Debug)]
pub(super) struct SimAllocation {
    memory: Arc<SimMemory>,
    address: u64,
    bytes: usize,
    device_index: u32,
}

impl SimAllocation {
    /// The address at which a range begins, or an error if the range is not inside the allocation.
    fn range(&self, offset: usize, bytes: usize) -> Result<u64, DeviceError> {
        end_of_range(offset, bytes, self.bytes)?;
        Ok(self.address + offset as u64)
    }
}

/// The error of an access that failed although it was checked before.
fn lost(fault: kiln_sim::FaultKind) -> DeviceError {
    DeviceError::Internal {
        what: "a copy to or from a simulated device".into(),
        text: fault.to_string(),
    }
}

impl Allocation for SimAllocation {
    fn address(&self) -> u64 {
        self.address
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn device_index(&self) -> u32 {
        self.device_index
    }

    fn read(&self, _: StreamHandle, offset: usize, out: &mut [u8]) -> Result<(), DeviceError> {
        let address = self.range(offset, out.len())?;
        self.memory.memory.read(address, out).map_err(lost)
    }

    fn write(&self, _: StreamHandle, offset: usize, data: &[u8]) -> Result<(), DeviceError> {
        let address = self.range(offset, data.len())?;
        self.memory.memory.write(address, data).map_err(lost)
    }

    fn fill(
        &self,
        _: StreamHandle,
        offset: usize,
        bytes: usize,
        value: u8,
    ) -> Result<(), DeviceError> {
        let address = self.range(offset, bytes)?;
        self.memory
            .memory
            .write(address, &vec![value; bytes])
            .map_err(lost)
    }
}

impl Drop for SimAllocation {
    fn drop(&mut self) {
        if self.memory.memory.free(self.address) {
            let bytes = self.bytes as u64;
            self.memory.used_bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}
