//! Caches the bank conflicts of each instruction's last access to shared memory, and the granules (the units of the
//! race checks) that this access touched.
//!
//! Most executions of an instruction differ from its last access only by an offset that is the same in every lane,
//! because another warp or a later iteration of a loop executes it. If this offset is a multiple of the access size
//! (rounded up to a power of two, and to at least 4 bytes), both accesses have the same conflicts, and their granules
//! differ by that offset.

use crate::banks::conflicts;
use crate::lanes::LANES;

/// Maximum number of 64-bit words in a cached footprint. The granules of an access that needs more words are not
/// cached.
const MAX_WORDS: usize = 32;
/// After this number of consecutive misses, the cached access of an instruction is no longer replaced.
pub(crate) const MAX_MISSES: u8 = 8;

/// The granules that an access touches, relative to the lowest one. A granule is the unit of the race checks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Footprint {
    /// The distance from the lowest granule to the granule of the first lane, in granules.
    below: u32,
    /// The touched granules, one bit each. Bit 0 is the lowest granule.
    bits: Vec<u64>,
    /// The size of a granule is `1 << shift` bytes.
    shift: u32,
}

impl Footprint {
    /// The granules that the access touches if its first lane accesses the offset `first`. Each item is the index of a
    /// word of 64 granules, and the bits of the touched granules in this word. If the access reaches past either end of
    /// the address space, the index lies outside the memory.
    #[inline(always)]
    pub fn words(&self, first: u32) -> impl Iterator<Item = (usize, u64)> {
        let lowest = (first >> self.shift).wrapping_sub(self.below) & (u32::MAX >> self.shift);
        let (place, by) = ((lowest / 64) as usize, lowest % 64);
        let mut before = 0;
        self.bits.iter().enumerate().map(move |(i, &bits)| {
            let moved = bits << by | before >> 1 >> (63 - by);
            before = bits;
            (place + i, moved)
        })
    }

    /// Computes the granules of an access: the lanes of `mask` access `bytes` bytes each. Returns `false` if the
    /// granules span too many words.
    fn find(&mut self, at: &[u32; LANES], bytes: u32, mask: u32, shift: u32) -> bool {
        let count = (bytes >> shift).clamp(1, 64);
        let (mut low, mut high) = (u32::MAX, 0);
        for lane in crate::lanes::of_mask(mask) {
            low = low.min(at[lane] >> shift);
            high = high.max(at[lane] >> shift);
        }
        let words = (high.wrapping_sub(low).wrapping_add(count)).div_ceil(64) as usize;
        if low > high || words > MAX_WORDS {
            return false;
        }
        self.shift = shift;
        self.below = (at[0] >> shift).wrapping_sub(low);
        self.bits.clear();
        // The last word receives the bits that are shifted out of the word before it in `Self::words`. Otherwise it
        // stays empty.
        self.bits.resize(words + 1, 0);
        let one = u64::MAX >> (64 - count);
        for lane in crate::lanes::of_mask(mask) {
            let granule = (at[lane] >> shift) - low;
            let (word, bit) = ((granule / 64) as usize, granule % 64);
            self.bits[word] |= one << bit;
            self.bits[word + 1] |= one >> 1 >> (63 - bit);
        }
        true
    }
}

/// The last access of an instruction whose conflicts and granules were computed, and the results.
#[derive(Debug)]
struct Last {
    at: [u32; LANES],
    bytes: u32,
    mask: u32,
    conflicts: u64,
    is_narrow: bool,
    footprint: Footprint,
    /// Number of consecutive accesses that did not match.
    misses: u8,
}

impl Last {
    /// Whether the cached conflicts and granules are also valid for this access.
    #[inline(always)]
    fn is_like(&self, at: &[u32; LANES], bytes: u32, mask: u32) -> bool {
        let moved = at[0].wrapping_sub(self.at[0]);
        let mut different = (bytes ^ self.bytes) | (mask ^ self.mask);
        for (at, own) in at.iter().zip(&self.at) {
            different |= at.wrapping_sub(*own) ^ moved;
        }
        // An offset that is a multiple of `unit` changes neither which lanes share a granule nor which lanes share a
        // bank.
        let unit = bytes.next_power_of_two().max(4);
        different | moved & (unit - 1) == 0
    }

    fn find(&mut self, at: &[u32; LANES], bytes: u32, mask: u32, shift: u32) {
        (self.at, self.bytes, self.mask) = (*at, bytes, mask);
        self.conflicts = conflicts(at, mask, bytes);
        self.is_narrow = self.footprint.find(at, bytes, mask, shift);
    }
}

/// The cached accesses of all instructions.
#[derive(Debug)]
pub(crate) struct Footprints {
    /// The size of a granule is `1 << shift` bytes, at most 4.
    shift: u32,
    last: Vec<Option<Box<Last>>>,
}

impl Footprints {
    pub fn new(shift: u32) -> Footprints {
        Footprints {
            shift,
            last: Vec::new(),
        }
    }

    /// The bank conflicts of an access, and its granules if they are cached. The lanes of `mask` access `bytes` bytes
    /// each.
    #[inline(always)]
    pub fn of(
        &mut self,
        instruction: usize,
        at: &[u32; LANES],
        bytes: u32,
        mask: u32,
    ) -> (u64, Option<&Footprint>) {
        let is_known = match self.last.get_mut(instruction) {
            Some(Some(last)) if last.is_like(at, bytes, mask) => {
                last.misses = 0;
                true
            }
            _ => false,
        };
        if !is_known && !self.learn(instruction, at, bytes, mask) {
            return (conflicts(at, mask, bytes), None);
        }
        match self.last.get(instruction) {
            Some(Some(last)) => (
                last.conflicts,
                Some(&last.footprint).filter(|_| last.is_narrow),
            ),
            _ => (conflicts(at, mask, bytes), None),
        }
    }

    /// Replaces the cached access. Returns `false` after [`MAX_MISSES`] consecutive misses.
    #[inline(never)]
    fn learn(&mut self, instruction: usize, at: &[u32; LANES], bytes: u32, mask: u32) -> bool {
        if instruction >= self.last.len() {
            self.last.resize_with(instruction + 1, || None);
        }
        let last = self.last[instruction].get_or_insert_with(|| {
            Box::new(Last {
                at: [0; LANES],
                bytes: 0,
                mask: 0,
                conflicts: 0,
                is_narrow: false,
                footprint: Footprint::default(),
                misses: 0,
            })
        });
        if last.misses == MAX_MISSES {
            return false;
        }
        last.misses += 1;
        last.find(at, bytes, mask, self.shift);
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::lanes::{each, of_mask};

    fn granules(known: &Footprint, first: u32) -> BTreeSet<u64> {
        let bits = |(word, bits): (usize, u64)| {
            let set = (0..64).filter(move |bit| bits >> bit & 1 != 0);
            set.map(move |bit| 64 * word as u64 + bit)
        };
        known.words(first).flat_map(bits).collect()
    }

    proptest! {
        #[test]
        fn a_remembered_access_has_the_conflicts_and_granules_of_a_computed_one(
            bytes in 0u32..=4,
            shift in 0u32..=2,
            shapes in prop::collection::vec((any::<[u8; 32]>(), 0u32..4), 1..3),
            accesses in prop::collection::vec((0u32..4096, 0usize..3, prop_oneof![Just(!0u32), any::<u32>()]), 1..20),
        ) {
            let bytes = if bytes == 3 { 12 } else { 1 << bytes };
            let mut footprints = Footprints::new(shift);
            for (first, shape, mask) in accesses {
                let (above, scale) = shapes[shape % shapes.len()];
                let at = each(|lane| first + (u32::from(above[lane]) << scale));
                let (found, known) = footprints.of(5, &at, bytes, mask);
                prop_assert_eq!(found, conflicts(&at, mask, bytes));
                let Some(known) = known else {
                    continue;
                };
                let count = (bytes >> shift).max(1);
                let touched = of_mask(mask).flat_map(|lane| (0..count).map(move |i| u64::from((at[lane] >> shift) + i)));
                prop_assert_eq!(granules(known, at[0]), touched.collect());
            }
        }
    }

    #[test]
    fn after_eight_accesses_that_differ_no_other_is_remembered() {
        let mut footprints = Footprints::new(2);
        let knows = |footprints: &mut Footprints, stride: u32| {
            let at = each(|lane| 4 * stride * lane as u32);
            footprints.of(1, &at, 4, !0).1.is_some()
        };
        assert!((0..8).all(|stride| knows(&mut footprints, stride)));
        assert!(!knows(&mut footprints, 8));
        assert!(knows(&mut footprints, 7));
        assert!(knows(&mut footprints, 8));
    }
}
