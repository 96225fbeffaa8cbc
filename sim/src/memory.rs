//! The global memory of a simulated device.
//!
//! The simulator runs blocks on several threads. Each word is therefore an atomic with relaxed ordering, so a racy
//! kernel reads some value that was written, and never causes undefined behaviour in the host program.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::FaultKind;
use crate::lanes::LANES;

/// The address of the first allocation. It is above 4 GiB, so a pointer truncated to 32 bits faults, and above the
/// generic addresses of shared, local and parameter memory. More than 100 TiB of the 47-bit addresses follow it.
const FIRST: u64 = 0x1000_0000_0000;
/// Number of unused bytes after each allocation, so an overrun faults instead of reaching the next allocation.
const GAP: u64 = 1 << 20;
/// The base of each allocation is a multiple of this number of bytes.
const ALIGN: u64 = 256;

/// Global memory. The allocations are far apart, and each is exactly as long as requested. No address is used twice,
/// so an access to freed memory is always an error.
#[derive(Debug, Default)]
pub struct Memory {
    regions: RwLock<BTreeMap<u64, Arc<Region>>>,
    /// Number of bytes after [`FIRST`] that were ever allocated, with their gaps.
    used: AtomicU64,
}

impl Memory {
    /// Allocates `bytes` zero bytes at a multiple of `align`, which must be a power of two, and returns the address.
    pub fn alloc_aligned(&self, bytes: usize, align: usize) -> u64 {
        let align = ALIGN.max(align as u64);
        let bytes_with_gap = bytes as u64 + GAP + align;
        let used = self.used.fetch_add(bytes_with_gap, Ordering::Relaxed);
        let base = (FIRST + used).next_multiple_of(align);
        let mut regions = self.regions.write().unwrap_or_else(PoisonError::into_inner);
        regions.insert(base, Arc::new(Region::new(base, bytes)));
        base
    }

    /// Allocates `bytes` zero bytes at a multiple of 256, and returns the address.
    pub fn alloc(&self, bytes: usize) -> u64 {
        self.alloc_aligned(bytes, ALIGN as usize)
    }

    /// Frees the allocation at `base`. Returns `false` if `base` is not the base of an allocation.
    pub fn free(&self, base: u64) -> bool {
        let mut regions = self.regions.write().unwrap_or_else(PoisonError::into_inner);
        regions.remove(&base).is_some()
    }

    /// Copies `data` to `address`.
    ///
    /// # Errors
    /// [`FaultKind::OutOfBounds`] if the bytes are not all inside one allocation.
    pub fn write(&self, address: u64, data: &[u8]) -> Result<(), FaultKind> {
        let view = self.view();
        let (region, offset) = view.find_bytes(address, data.len() as u64)?;
        for (i, &byte) in data.iter().enumerate() {
            region.store_u8(offset + i, byte);
        }
        Ok(())
    }

    /// Copies from `address` to `data`.
    ///
    /// # Errors
    /// [`FaultKind::OutOfBounds`] if the bytes are not all inside one allocation.
    pub fn read(&self, address: u64, data: &mut [u8]) -> Result<(), FaultKind> {
        let view = self.view();
        let (region, offset) = view.find_bytes(address, data.len() as u64)?;
        for (i, byte) in data.iter_mut().enumerate() {
            *byte = region.load_u8(offset + i);
        }
        Ok(())
    }

    /// A view of the current allocations, for one launch.
    pub fn view(&self) -> MemoryView {
        let regions = self.regions.read().unwrap_or_else(PoisonError::into_inner);
        MemoryView {
            regions: regions.values().cloned().collect(),
        }
    }
}

/// The allocations that a launch may access.
#[derive(Clone, Debug)]
pub struct MemoryView {
    /// In ascending order of their addresses.
    regions: Vec<Arc<Region>>,
}

impl MemoryView {
    /// The allocation that contains `bytes` bytes at `address`, and the offset of `address` in this allocation.
    ///
    /// # Errors
    /// [`FaultKind::OutOfBounds`] if no allocation contains all of the bytes.
    pub fn find(&self, address: u64, bytes: u32) -> Result<(&Region, usize), FaultKind> {
        self.find_bytes(address, bytes.into())
    }

    fn find_bytes(&self, address: u64, bytes: u64) -> Result<(&Region, usize), FaultKind> {
        let after = self
            .regions
            .partition_point(|region| region.base <= address);
        let region = after.checked_sub(1).map(|i| &*self.regions[i]);
        if let Some(region) = region
            && region.holds_bytes(address, bytes)
        {
            return Ok((region, (address - region.base) as usize));
        }
        Err(FaultKind::OutOfBounds {
            address,
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            nearest: region.map(|region| (region.base, region.bytes)),
        })
    }
}

/// One allocation.
#[derive(Debug)]
pub struct Region {
    base: u64,
    bytes: usize,
    words: Box<[AtomicU32]>,
}

impl Region {
    /// A region of zeros at an address.
    pub(crate) fn new(base: u64, bytes: usize) -> Region {
        Region {
            base,
            bytes,
            words: (0..bytes.div_ceil(4)).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// The address of the first byte.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// The size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether the region contains all of `bytes` bytes at `address`.
    pub fn holds(&self, address: u64, bytes: u32) -> bool {
        address >= self.base && address - self.base + u64::from(bytes) <= self.bytes as u64
    }

    fn holds_bytes(&self, address: u64, bytes: u64) -> bool {
        let offset = address.checked_sub(self.base);
        let end = offset.and_then(|offset| offset.checked_add(bytes));
        end.is_some_and(|end| end <= self.bytes as u64)
    }

    /// The word at a byte offset, which must be a multiple of 4. Atomic operations use it.
    pub fn word(&self, offset: usize) -> &AtomicU32 {
        debug_assert!(offset.is_multiple_of(4));
        &self.words[offset / 4]
    }

    /// Returns the offset of each lane's address in this region, or 0 for lanes that are not in `mask`. Returns `None`
    /// if, for any lane of `mask`, the region does not contain `bytes` bytes at the address, or the address is not a
    /// multiple of `align` (a power of two up to 256).
    #[inline(always)]
    pub(crate) fn offsets(
        &self,
        at: &[u64; LANES],
        bytes: u32,
        mask: u32,
        align: u32,
    ) -> Option<[usize; LANES]> {
        let most = (self.bytes as u64).checked_sub(bytes.into())?;
        let (mut outside, mut low) = (false, 0);
        let mut offsets = [0; LANES];
        for (lane, offset) in offsets.iter_mut().enumerate() {
            let taken = 0u64.wrapping_sub(u64::from(mask >> lane & 1));
            let within = at[lane].wrapping_sub(self.base) & taken;
            outside |= within > most;
            low |= within;
            *offset = within as usize;
        }
        // The bases of allocations are multiples of 256.
        (!outside && low & u64::from(align - 1) == 0).then_some(offsets)
    }

    /// All words. The last word may extend beyond the end of the region.
    pub(crate) fn words(&self) -> &[AtomicU32] {
        &self.words
    }

    /// Loads a byte.
    pub fn load_u8(&self, offset: usize) -> u8 {
        (self.words[offset / 4].load(Ordering::Relaxed) >> (offset % 4 * 8)) as u8
    }

    /// Stores a byte.
    pub fn store_u8(&self, offset: usize, value: u8) {
        let shift = offset % 4 * 8;
        self.merge(offset / 4, u32::from(value) << shift, 0xff << shift);
    }

    /// Loads 16 bits from any byte offset.
    pub fn load_u16(&self, offset: usize) -> u16 {
        match offset % 4 {
            3 => u16::from_le_bytes([self.load_u8(offset), self.load_u8(offset + 1)]),
            within => (self.words[offset / 4].load(Ordering::Relaxed) >> (within * 8)) as u16,
        }
    }

    /// Stores 16 bits to any byte offset.
    pub fn store_u16(&self, offset: usize, value: u16) {
        match offset % 4 {
            3 => {
                let [low, high] = value.to_le_bytes();
                self.store_u8(offset, low);
                self.store_u8(offset + 1, high);
            }
            within => self.merge(
                offset / 4,
                u32::from(value) << (within * 8),
                0xffff << (within * 8),
            ),
        }
    }

    /// Loads 32 bits from any byte offset.
    pub fn load_u32(&self, offset: usize) -> u32 {
        let word = offset / 4;
        match offset % 4 {
            0 => self.words[word].load(Ordering::Relaxed),
            within => {
                let low = self.words[word].load(Ordering::Relaxed);
                let high = self.words[word + 1].load(Ordering::Relaxed);
                low >> (within * 8) | high << (32 - within * 8)
            }
        }
    }

    /// Stores 32 bits to any byte offset.
    pub fn store_u32(&self, offset: usize, value: u32) {
        match offset % 4 {
            0 => self.words[offset / 4].store(value, Ordering::Relaxed),
            _ => {
                for (i, byte) in value.to_le_bytes().into_iter().enumerate() {
                    self.store_u8(offset + i, byte);
                }
            }
        }
    }

    fn merge(&self, word: usize, value: u32, mask: u32) {
        let merged = |old: u32| Some(old & !mask | value & mask);
        // The closure always returns `Some`, so the update cannot fail.
        let _ = self.words[word].fetch_update(Ordering::Relaxed, Ordering::Relaxed, merged);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_address_is_used_again_after_its_allocation_is_freed() {
        let memory = Memory::default();
        let first = memory.alloc(64);
        assert!(memory.free(first));
        let second = memory.alloc_aligned(64, 4096);
        assert!(second > first && second % 4096 == 0);
        let stale = memory.read(first, &mut [0; 4]);
        assert!(matches!(stale, Err(FaultKind::OutOfBounds { .. })));
    }

    #[test]
    fn a_copy_of_4_gib_does_not_fit_a_small_allocation() {
        let memory = Memory::default();
        let address = memory.alloc(64);
        // The host allocates pages of zeros when they are first accessed. Both copies fail before that.
        let mut data = vec![0; 1 << 32];
        let fault = FaultKind::OutOfBounds {
            address,
            bytes: u32::MAX,
            nearest: Some((address, 64)),
        };
        assert_eq!(memory.write(address, &data), Err(fault.clone()));
        assert_eq!(memory.read(address, &mut data), Err(fault));
    }
}
