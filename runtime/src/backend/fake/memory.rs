//! Memory of the fake device: byte vectors with invented addresses, so an access outside them harms nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::device::{Allocation, DeviceError, StreamHandle};
use crate::launch::checks::{check_align, end_of_range};

/// Gap between allocations in bytes. With it, an access past the end of an allocation does not reach the next one.
const GAP: u64 = 1 << 16;

/// All memory of one fake device.
#[derive(Clone, Debug)]
pub(super) struct FakeMemory(Arc<Mutex<Blocks>>);

/// The live allocations. The key is the address.
#[derive(Debug)]
pub(super) struct Blocks {
    blocks: BTreeMap<u64, Vec<u8>>,
    next: u64,
    used_bytes: u64,
    max_bytes: u64,
}

impl FakeMemory {
    pub(super) fn new(max_bytes: u64) -> FakeMemory {
        FakeMemory(Arc::new(Mutex::new(Blocks {
            blocks: BTreeMap::new(),
            next: 1 << 40,
            used_bytes: 0,
            max_bytes,
        })))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Blocks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn alloc(
        &self,
        bytes: usize,
        align: usize,
        device_index: u32,
    ) -> Result<FakeAllocation, DeviceError> {
        check_align(align)?;
        let mut blocks = self.lock();
        let free = blocks.max_bytes - blocks.used_bytes;
        if bytes as u64 > free {
            return Err(DeviceError::Oom {
                wanted_bytes: bytes as u64,
                text: format!("{free} bytes free"),
            });
        }
        let address = blocks.next.next_multiple_of(align as u64);
        blocks.next = address + bytes as u64 + GAP;
        blocks.used_bytes += bytes as u64;
        blocks.blocks.insert(address, vec![0; bytes]);
        Ok(FakeAllocation {
            memory: self.clone(),
            address,
            bytes,
            device_index,
        })
    }
}

impl Blocks {
    /// The bytes of a range; `None` if the range is not inside one allocation.
    pub(super) fn range(&mut self, address: u64, bytes: usize) -> Option<&mut [u8]> {
        let (start, block) = self.blocks.range_mut(..=address).next_back()?;
        let offset = usize::try_from(address - start).ok()?;
        block.get_mut(offset..offset.checked_add(bytes)?)
    }
}

/// One allocation of a fake device.
#[derive(Debug)]
pub(super) struct FakeAllocation {
    memory: FakeMemory,
    address: u64,
    bytes: usize,
    device_index: u32,
}

impl FakeAllocation {
    fn with_range(
        &self,
        offset: usize,
        bytes: usize,
        use_it: impl FnOnce(&mut [u8]),
    ) -> Result<(), DeviceError> {
        end_of_range(offset, bytes, self.bytes)?;
        let mut blocks = self.memory.lock();
        let range = blocks
            .range(self.address + offset as u64, bytes)
            .expect("an allocation should be in the memory it was made in");
        use_it(range);
        Ok(())
    }
}

impl Allocation for FakeAllocation {
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
        self.with_range(offset, out.len(), |range| out.copy_from_slice(range))
    }

    fn write(&self, _: StreamHandle, offset: usize, data: &[u8]) -> Result<(), DeviceError> {
        self.with_range(offset, data.len(), |range| range.copy_from_slice(data))
    }

    fn fill(
        &self,
        _: StreamHandle,
        offset: usize,
        bytes: usize,
        value: u8,
    ) -> Result<(), DeviceError> {
        self.with_range(offset, bytes, |range| range.fill(value))
    }
}

impl Drop for FakeAllocation {
    fn drop(&mut self) {
        let mut blocks = self.memory.lock();
        if blocks.blocks.remove(&self.address).is_some() {
            blocks.used_bytes -= self.bytes as u64;
        }
    }
}
