//! Memory of the cpu device, which is mapped pages that kernels access by address.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::device::{Allocation, DeviceError, StreamHandle};
use crate::launch::checks::{check_align, end_of_range};

use super::ffi::{Mapping, page_bytes};
use super::limits::meminfo_bytes;

/// For an allocation of at least this size, in bytes, the free memory of the machine is checked first.
const LARGE_BYTES: usize = 64 << 20;

/// Allocations of at least this size, in bytes, begin at a huge page and request huge pages. A kernel that reads 8 MB
/// and writes 8 MB took 0.61 ms with huge pages and 0.93 ms without (medians of three processes each, 2 cores of an
/// AMD EPYC).
const HUGE_FROM_BYTES: usize = 4 << 20;

/// The size of a huge page, in bytes, on x86-64 and on aarch64 with 4 KiB pages.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// The device's lock and list of allocations, which the device and its memory share.
pub(super) type Order = Arc<Turns>;

/// The lock that orders work on a device, and the list of the device's allocations.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Locked while a kernel or a copy runs, so that they never overlap. The device runs everything in order.
    turn: Mutex<()>,
    /// The address and size in bytes of every allocation.
    live: Mutex<BTreeMap<u64, u64>>,
}

impl Turns {
    /// The address and size in bytes of every allocation.
    pub fn allocations(&self) -> Vec<(u64, u64)> {
        let live = self.live();
        live.iter()
            .map(|(&address, &bytes)| (address, bytes))
            .collect()
    }

    fn live(&self) -> MutexGuard<'_, BTreeMap<u64, u64>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until no kernel or copy runs on the device, and locks it. If a thread panicked while it held the lock, the
/// lock can still be used, because the thread left nothing unfinished that a later launch could see.
pub(super) fn in_order(order: &Order) -> MutexGuard<'_, ()> {
    order.turn.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One allocation of the cpu device.
#[derive(Debug)]
pub(super) struct CpuMemory {
    mapping: Mapping,
    start: usize,
    bytes: usize,
    device_index: u32,
    order: Order,
}

impl CpuMemory {
    /// Allocates `bytes` zeroed bytes that are aligned to `align`. Guarded memory is between two inaccessible pages.
    pub fn new(
        bytes: usize,
        align: usize,
        guarded: bool,
        device_index: u32,
        order: Order,
    ) -> Result<CpuMemory, DeviceError> {
        check_align(align)?;
        let page = page_bytes();
        let guard = if guarded { page } else { 0 };
        let is_huge = bytes >= HUGE_FROM_BYTES && !guarded;
        let align = if is_huge {
            align.max(HUGE_PAGE_BYTES)
        } else {
            align
        };
        let room = room_for(bytes, align, page)?;
        let mapping = Mapping::new(room.saturating_add(2 * guard))
            .map_err(|error| out_of_memory(bytes, error.to_string()))?;
        let data = mapping.address() + guard;
        let start = if guarded {
            let failed = |error| DeviceError::internal("mprotect", error);
            mapping.guard(0..guard).map_err(failed)?;
            let behind = guard + room..mapping.bytes();
            mapping.guard(behind).map_err(failed)?;
            (data + room - bytes) / align * align
        } else {
            data.next_multiple_of(align)
        };
        if is_huge {
            mapping.ask_for_huge_pages();
        }
        order.live().insert(start as u64, bytes as u64);
        Ok(CpuMemory {
            start: start - mapping.address(),
            mapping,
            bytes,
            device_index,
            order,
        })
    }

    /// Converts a range within the allocation to a range within the mapping. Returns an error if the range is not
    /// inside the allocation.
    fn range(&self, offset: usize, bytes: usize) -> Result<Range<usize>, DeviceError> {
        let end = end_of_range(offset, bytes, self.bytes)?;
        Ok(self.start + offset..self.start + end)
    }
}

/// The size of the mapping: whole pages for the data, and room to align the data. Returns an error if the machine does
/// not have enough memory.
fn room_for(bytes: usize, align: usize, page: usize) -> Result<usize, DeviceError> {
    if bytes >= LARGE_BYTES {
        let free = meminfo_bytes("MemAvailable").unwrap_or(u64::MAX);
        if bytes as u64 > free {
            return Err(out_of_memory(bytes, format!("{free} bytes are free")));
        }
    }
    let slack = if align > page { align } else { 0 };
    let data = bytes.max(1).checked_next_multiple_of(page);
    data.and_then(|data| data.checked_add(slack))
        .ok_or_else(|| out_of_memory(bytes, "more than the address space holds".into()))
}

fn out_of_memory(bytes: usize, text: String) -> DeviceError {
    DeviceError::Oom {
        wanted_bytes: bytes as u64,
        text,
    }
}

impl Drop for CpuMemory {
    fn drop(&mut self) {
        self.order.live().remove(&self.address());
    }
}

impl Allocation for CpuMemory {
    fn address(&self) -> u64 {
        (self.mapping.address() + self.start) as u64
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn device_index(&self) -> u32 {
        self.device_index
    }

    fn read(&self, _: StreamHandle, offset: usize, out: &mut [u8]) -> Result<(), DeviceError> {
        let range = self.range(offset, out.len())?;
        let _turn = in_order(&self.order);
        self.mapping.read(range.start, out);
        Ok(())
    }

    fn write(&self, _: StreamHandle, offset: usize, data: &[u8]) -> Result<(), DeviceError> {
        let range = self.range(offset, data.len())?;
        let _turn = in_order(&self.order);
        self.mapping.write(range.start, data);
        Ok(())
    }

    fn fill(
        &self,
        _: StreamHandle,
        offset: usize,
        bytes: usize,
        value: u8,
    ) -> Result<(), DeviceError> {
        let range = self.range(offset, bytes)?;
        let _turn = in_order(&self.order);
        self.mapping.fill(range, value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: StreamHandle = StreamHandle::DEFAULT;

    fn memory(bytes: usize, align: usize, guarded: bool) -> CpuMemory {
        CpuMemory::new(bytes, align, guarded, 0, Order::default()).unwrap()
    }

    #[test]
    fn memory_is_zero_aligned_and_holds_what_is_written() {
        for (bytes, align) in [(1, 1), (100, 64), (5000, 1 << 16), (0, 256)] {
            let memory = memory(bytes, align, false);
            assert_eq!(memory.address() as usize % align, 0);
            let mut seen = vec![1; bytes];
            memory.read(STREAM, 0, &mut seen).unwrap();
            assert_eq!(seen, vec![0; bytes]);
            memory.fill(STREAM, 0, bytes, 7).unwrap();
            memory
                .write(STREAM, bytes / 2, &vec![9; bytes - bytes / 2])
                .unwrap();
            memory.read(STREAM, 0, &mut seen).unwrap();
            let expected: Vec<u8> = (0..bytes)
                .map(|i| if i < bytes / 2 { 7 } else { 9 })
                .collect();
            assert_eq!(seen, expected);
        }
    }

    #[test]
    fn large_memory_begins_at_a_huge_page_unless_it_is_guarded() {
        let at = |bytes, guarded| memory(bytes, 64, guarded).address() as usize;
        assert_eq!(at(HUGE_FROM_BYTES, false) % HUGE_PAGE_BYTES, 0);
        assert_eq!(at(HUGE_FROM_BYTES + 100, false) % HUGE_PAGE_BYTES, 0);
        // Guarded memory ends at its guard page.
        let end = at(HUGE_FROM_BYTES, true) + HUGE_FROM_BYTES;
        assert_eq!(end % page_bytes(), 0);
    }

    #[test]
    fn a_range_outside_is_refused_with_both_ends() {
        let memory = memory(10, 1, false);
        let error = memory.read(STREAM, 8, &mut [0; 3]).unwrap_err();
        let expected = DeviceError::OutOfBounds {
            offset: 8,
            end: 11,
            size_bytes: 10,
        };
        assert_eq!(error, expected);
        assert!(memory.fill(STREAM, usize::MAX, 2, 0).is_err());
    }

    #[test]
    fn guarded_memory_ends_at_the_guard_as_closely_as_its_alignment_allows() {
        for (bytes, align) in [(4, 4), (4096, 256), (5000, 8), (7, 16)] {
            let memory = memory(bytes, align, true);
            let end = memory.address() as usize + bytes;
            assert!(end.next_multiple_of(page_bytes()) - end < align.max(1));
            memory.fill(STREAM, 0, bytes, 1).unwrap();
        }
    }

    #[test]
    fn more_than_the_machine_has_is_refused_before_it_is_touched() {
        let wanted = 1 << 50;
        let error = CpuMemory::new(wanted, 1, false, 0, Order::default()).unwrap_err();
        assert!(matches!(error, DeviceError::Oom { wanted_bytes, .. } if wanted_bytes == 1 << 50));
        assert!(CpuMemory::new(usize::MAX, 1, false, 0, Order::default()).is_err());
    }
}
