//! Counts the sectors of a warp's accesses to global memory.

use crate::Traffic;
use crate::footprint::MAX_MISSES;

/// The size of a sector, in bytes.
const SECTOR: u64 = 32;

impl Traffic {
    /// Counts one request to global memory, in which the lanes of `mask` access `bytes` bytes each.
    pub(crate) fn global(&mut self, addresses: &[u64; 32], mask: u32, bytes: u32) {
        let bytes = u64::from(bytes);
        self.global_requests += 1;
        let first = addresses[0];
        let dense =
            |(lane, &address): (u64, &u64)| u64::from(address != first.wrapping_add(lane * bytes));
        if mask == !0 && (0..).zip(addresses).map(dense).sum::<u64>() == 0 {
            // The access has no gaps, so its first and last byte determine the sectors.
            let last = first.wrapping_add(32 * bytes - 1);
            self.global_sectors += (last / SECTOR).saturating_sub(first / SECTOR) + 1;
            self.global_ideal_sectors += bytes;
            return;
        }
        let mut spans = Spans::default();
        let in_order = lanes(mask).all(|lane| spans.push(addresses[lane], bytes));
        if !in_order {
            let mut sorted = [0; 32];
            let mut count = 0;
            for lane in lanes(mask) {
                sorted[count] = addresses[lane];
                count += 1;
            }
            sorted[..count].sort_unstable();
            spans = Spans::default();
            for &address in &sorted[..count] {
                spans.push(address, bytes);
            }
        }
        self.global_sectors += spans.sectors;
        self.global_ideal_sectors += spans.bytes.div_ceil(SECTOR);
    }
}

/// Accumulates the bytes and sectors of accesses, in ascending order of their addresses.
#[derive(Default)]
struct Spans {
    /// Number of different bytes.
    bytes: u64,
    sectors: u64,
    /// The address of the last access.
    last: u64,
    /// The address of the first byte after all accesses.
    end: u64,
    /// The number of the first sector after all accesses.
    next_sector: u64,
}

impl Spans {
    /// Adds an access. Returns `false` if the address is below that of the last access.
    fn push(&mut self, address: u64, bytes: u64) -> bool {
        if address < self.last {
            return false;
        }
        let end = address.saturating_add(bytes);
        self.bytes += end.saturating_sub(address.max(self.end));
        let (first, next) = (address / SECTOR, end.saturating_sub(1) / SECTOR + 1);
        self.sectors += next.saturating_sub(first.max(self.next_sector));
        self.last = address;
        self.end = self.end.max(end);
        self.next_sector = self.next_sector.max(next);
        true
    }
}

/// The last request of an instruction whose sectors were counted, and the counts.
#[derive(Debug)]
struct Last {
    addresses: [u64; 32],
    mask: u32,
    bytes: u32,
    counted: Traffic,
    /// Number of consecutive requests that did not match.
    misses: u8,
}

impl Last {
    /// Whether a request touches the same number of sectors, because every address moved by the same multiple of a
    /// sector.
    #[inline(always)]
    fn is_like(&self, addresses: &[u64; 32], mask: u32, bytes: u32) -> bool {
        let moved = addresses[0].wrapping_sub(self.addresses[0]);
        let mut different = u64::from((mask ^ self.mask) | (bytes ^ self.bytes));
        different |= moved % SECTOR;
        for (address, own) in addresses.iter().zip(&self.addresses) {
            different |= address.wrapping_sub(*own) ^ moved;
        }
        different == 0
    }
}

/// Counts requests to global memory. Most requests touch as many sectors as the last request of the same instruction,
/// so the counts of that request are cached.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    last: Vec<Option<Box<Last>>>,
}

impl Requests {
    /// Counts a request of an instruction. The lanes of `mask` access `bytes` bytes each.
    #[inline(always)]
    pub fn count(
        &mut self,
        traffic: &mut [Traffic],
        instruction: usize,
        addresses: &[u64; 32],
        mask: u32,
        bytes: u32,
    ) {
        let traffic = &mut traffic[instruction];
        match self.last.get_mut(instruction) {
            Some(Some(last)) if last.is_like(addresses, mask, bytes) => {
                last.misses = 0;
                *traffic += &last.counted;
            }
            _ => self.look(traffic, instruction, addresses, mask, bytes),
        }
    }

    #[inline(never)]
    fn look(
        &mut self,
        traffic: &mut Traffic,
        instruction: usize,
        addresses: &[u64; 32],
        mask: u32,
        bytes: u32,
    ) {
        let mut counted = Traffic::default();
        counted.global(addresses, mask, bytes);
        *traffic += &counted;
        if instruction >= self.last.len() {
            self.last.resize_with(instruction + 1, || None);
        }
        let last = &mut self.last[instruction];
        let misses = last.as_ref().map_or(0, |last| last.misses);
        if misses < MAX_MISSES {
            let now = Last {
                addresses: *addresses,
                mask,
                bytes,
                counted,
                misses: misses + 1,
            };
            match last {
                Some(last) => **last = now,
                None => *last = Some(Box::new(now)),
            }
        }
    }
}

fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |lane| mask >> lane & 1 != 0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn requests_that_are_alike_cost_the_same(
            shapes in prop::collection::vec(any::<[u8; 32]>(), 1..3),
            requests in prop::collection::vec((0u64..400, 0usize..3, prop_oneof![Just(!0u32), any::<u32>()]), 1..30),
        ) {
            let mut remembered = Requests::default();
            let mut quick = [Traffic::default(); 3];
            let mut full = Traffic::default();
            for (first, shape, mask) in requests {
                let above = shapes[shape % shapes.len()];
                let addresses = std::array::from_fn(|lane| 4096 + 8 * first + u64::from(above[lane]));
                remembered.count(&mut quick, 2, &addresses, mask, 8);
                full.global(&addresses, mask, 8);
                prop_assert_eq!(quick[2], full);
            }
        }
    }

    fn count(mask: u32, bytes: u32, address: impl Fn(u64) -> u64) -> (u64, u64) {
        let mut traffic = Traffic::default();
        let addresses = std::array::from_fn(|lane| address(lane as u64));
        traffic.global(&addresses, mask, bytes);
        assert_eq!(traffic.global_requests, 1);
        (traffic.global_sectors, traffic.global_ideal_sectors)
    }

    #[test]
    fn sectors_and_their_ideal_are_those_of_the_bytes_that_lanes_touch() {
        assert_eq!(count(!0, 4, |lane| 4096 + 4 * lane), (4, 4));
        assert_eq!(count(!0, 4, |lane| 4100 + 4 * lane), (5, 4));
        assert_eq!(count(!0, 4, |lane| 4096 + 128 * lane), (32, 4));
        assert_eq!(count(!0, 4, |_| 4096), (1, 1));
        assert_eq!(count(!0, 16, |lane| 4096 + 16 * lane), (16, 16));
        assert_eq!(count(!0, 4, |lane| 4096 + 4 * (31 - lane)), (4, 4));
        assert_eq!(count(!0, 4, |lane| 4096 + 4 * (lane ^ 1)), (4, 4));
        assert_eq!(count(1, 2, |_| 4096), (1, 1));
        assert_eq!(count(!0, 2, |lane| 4096 + 64 * (lane % 2)), (2, 1));
        assert_eq!(count(0xffff, 8, |lane| 4120 + 8 * lane), (5, 4));
    }
}
