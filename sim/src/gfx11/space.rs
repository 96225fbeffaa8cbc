//! The global address space of a kernel: allocations, the kernel's arguments, and the image itself.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::{FaultKind, MemoryView, Region};

/// The address of the kernel argument segment.
pub(super) const ARGUMENTS: u64 = 0x7d00_0000_0000;
/// The address of the dispatch packet.
pub(super) const PACKET: u64 = 0x7d10_0000_0000;

/// Global memory as a block sees it.
pub(super) struct Space<'a> {
    pub view: &'a MemoryView,
    pub arguments: Region,
    pub packet: Region,
    /// The read-only parts of the image: the first address and the address after the last.
    pub constant: Vec<(u64, u64)>,
}

/// Serialises 64-bit atomic operations, because a 64-bit value consists of two atomic words.
static WIDE: Mutex<()> = Mutex::new(());

impl Space<'_> {
    /// The region that contains `bytes` bytes at `address`, and the offset in this region.
    pub fn find(&self, address: u64, bytes: u32) -> Result<(&Region, usize), FaultKind> {
        for own in [&self.arguments, &self.packet] {
            if own.holds(address, bytes) {
                return Ok((own, (address - own.base()) as usize));
            }
        }
        self.view.find(address, bytes)
    }

    /// Whether an address is in a read-only part of the image.
    #[inline]
    pub fn is_image(&self, address: u64) -> bool {
        self.constant
            .iter()
            .any(|&(first, end)| first <= address && address < end)
    }

    /// Whether any part of an allocation is read-only.
    pub fn is_in_image(&self, region: &Region) -> bool {
        let end = region.base() + region.bytes() as u64;
        self.constant
            .iter()
            .any(|&(first, last)| region.base() < last && first < end)
    }

    /// The region for a store, and the offset in this region. A store to a read-only part is an error.
    pub fn find_to_write(&self, address: u64, bytes: u32) -> Result<(&Region, usize), FaultKind> {
        let image = self
            .constant
            .iter()
            .any(|&(first, end)| address < end && first < address + u64::from(bytes));
        if image || self.arguments.holds(address, bytes) || self.packet.holds(address, bytes) {
            return Err(FaultKind::ReadOnly { address, bytes });
        }
        self.view.find(address, bytes)
    }
}

/// Loads up to 16 bytes as words.
#[inline]
pub(super) fn load(region: &Region, offset: usize, bytes: u32) -> [u32; 4] {
    let mut value = [0; 4];
    match bytes {
        1 => value[0] = region.load_u8(offset).into(),
        2 => value[0] = region.load_u16(offset).into(),
        _ => {
            for (i, value) in value.iter_mut().take(bytes as usize / 4).enumerate() {
                *value = region.load_u32(offset + 4 * i);
            }
        }
    }
    value
}

/// Stores up to 16 bytes.
#[inline]
pub(super) fn store(region: &Region, offset: usize, bytes: u32, value: &[u32; 4]) {
    match bytes {
        1 => region.store_u8(offset, value[0] as u8),
        2 => region.store_u16(offset, value[0] as u16),
        _ => {
            for (i, &value) in value.iter().take(bytes as usize / 4).enumerate() {
                region.store_u32(offset + 4 * i, value);
            }
        }
    }
}

/// Replaces 4 or 8 bytes by a function of their value. Returns the previous value.
pub(super) fn update(
    region: &Region,
    offset: usize,
    bytes: u32,
    mut f: impl FnMut(u64) -> u64,
) -> u64 {
    if bytes == 4 {
        let word: &AtomicU32 = region.word(offset);
        let mut old = word.load(Ordering::Relaxed);
        loop {
            let new = f(u64::from(old)) as u32;
            match word.compare_exchange_weak(old, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return u64::from(old),
                Err(now) => old = now,
            }
        }
    }
    let _turn = WIDE.lock().unwrap_or_else(PoisonError::into_inner);
    let old = u64::from(region.load_u32(offset)) | u64::from(region.load_u32(offset + 4)) << 32;
    let new = f(old);
    region.store_u32(offset, new as u32);
    region.store_u32(offset + 4, (new >> 32) as u32);
    old
}
