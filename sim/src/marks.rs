//! What is known of shared memory at a glance: a bit per granule.
//!
//! Most accesses cannot be in a race: a read of what was written before the last barrier, or a write of what nobody touched
//! since. The bits tell them apart for all lanes of a warp at once. They err on one side only: whoever they stop is to be
//! checked in full.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use crate::footprint::Footprint;
use crate::wide::wide;

/// The bits of 64 granules.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    /// Ever written.
    written: u64,
    /// Written by a copy that is not complete.
    pending: u64,
    /// Written, complete, and not written since the last barrier.
    readable: u64,
    /// Accessed since the last barrier. Forbidden granules are always touched.
    touched: u64,
    /// Those of no variable, and those that do not exist.
    forbidden: u64,
}

/// The bits of all granules.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    words: Vec<Word>,
    /// The size of a granule in bytes, as a power of two.
    shift: u32,
}

/// What an access does to the bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    Read,
    Write,
    /// A write that is complete later.
    Copy,
    /// The end of such a write.
    Complete,
}

impl Marks {
    /// Memory that nothing wrote.
    pub fn new(bytes: usize, shift: u32) -> Marks {
        let granules = bytes.div_ceil(1 << shift);
        let mut marks = Marks {
            words: vec![Word::default(); granules.div_ceil(64)],
            shift,
        };
        marks.forbid(granules..marks.words.len() * 64);
        marks
    }

    /// Marks what the lanes of `mask` access, `bytes` bytes each: granules, at multiples of one, or a part of one. `false` if
    /// the access needs a full check.
    pub fn touch(&mut self, at: &[u32; 32], bytes: u32, mask: u32, touch: Touch) -> bool {
        let count = (bytes >> self.shift).clamp(1, 64);
        if mask == u32::MAX
            && let Some((place, bits)) = wide(InOneWord {
                at,
                shift: self.shift,
                count,
            })
        {
            return self.word(place, bits, touch) == 0;
        }
        let one = u64::MAX >> (64 - count);
        let (mut place, mut bits, mut stopped) = (0, 0, 0);
        for (lane, at) in at.iter().enumerate() {
            if mask >> lane & 1 == 0 {
                continue;
            }
            let first = at >> self.shift;
            let (word, bit) = ((first >> 6) as usize, first & 63);
            if word != place {
                stopped |= self.word(place, bits, touch);
                (place, bits) = (word, 0);
            }
            bits |= one << bit;
            if bit + count > 64 {
                stopped |= self.word(word + 1, one >> (64 - bit), touch);
            }
        }
        stopped |= self.word(place, bits, touch);
        stopped == 0
    }

    /// The same for an access whose footprint is known, and the address of its first lane.
    #[inline(always)]
    pub fn touch_known(&mut self, known: &Footprint, first: u32, touch: Touch) -> bool {
        let mut stopped = 0;
        for (place, bits) in known.words(first) {
            stopped |= self.word(place, bits, touch);
        }
        stopped == 0
    }

    /// Whether nobody accessed what such an access is about to access.
    #[inline(always)]
    pub fn are_untouched_known(&self, known: &Footprint, first: u32) -> bool {
        let mut touched = 0;
        for (place, bits) in known.words(first) {
            touched |= self.words.get(place).map_or(!0, |word| word.touched) & bits;
        }
        touched == 0
    }

    /// Whether nobody accessed what the lanes of `mask` are about to access.
    #[inline(always)]
    pub fn are_untouched(&self, at: &[u32; 32], bytes: u32, mask: u32) -> bool {
        let count = (bytes >> self.shift).clamp(1, 64);
        let one = u128::from(u64::MAX >> (64 - count));
        let mut touched = 0;
        for lane in crate::lanes::of_mask(mask) {
            let first = at[lane] >> self.shift;
            let bits = one << (first & 63);
            let place = (first >> 6) as usize;
            for (place, bits) in [(place, bits as u64), (place + 1, (bits >> 64) as u64)] {
                if bits != 0 {
                    touched |= self.words.get(place).map_or(!0, |word| word.touched) & bits;
                }
            }
        }
        touched == 0
    }

    /// Marks granules of one word; gives those that need a full check.
    #[inline(always)]
    fn word(&mut self, place: usize, bits: u64, touch: Touch) -> u64 {
        let Some(word) = self.words.get_mut(place) else {
            return bits;
        };
        let stopped = match touch {
            Touch::Read => bits & !word.readable,
            Touch::Write | Touch::Copy => bits & word.touched,
            Touch::Complete => 0,
        };
        word.touched |= bits;
        if touch == Touch::Read {
            return stopped;
        }
        word.readable &= !bits;
        word.written |= bits;
        match touch {
            Touch::Copy => word.pending |= bits,
            _ => word.pending &= !bits,
        }
        stopped
    }

    /// Marks one granule.
    pub fn touch_one(&mut self, granule: usize, touch: Touch) {
        self.word(granule / 64, 1 << (granule % 64), touch);
    }

    /// Marks granules that nobody may access.
    pub fn forbid(&mut self, granules: Range<usize>) {
        for granule in granules {
            if let Some(word) = self.words.get_mut(granule / 64) {
                word.forbidden |= 1 << (granule % 64);
                word.touched |= word.forbidden;
            }
        }
    }

    /// Whether nobody may access a granule.
    pub fn is_forbidden(&self, granule: usize) -> bool {
        self.bit(granule, |word| word.forbidden)
    }

    /// Whether a granule was ever written.
    pub fn is_written(&self, granule: usize) -> bool {
        self.bit(granule, |word| word.written)
    }

    /// Whether a copy into a granule is not complete.
    pub fn is_pending(&self, granule: usize) -> bool {
        self.bit(granule, |word| word.pending)
    }

    fn bit(&self, granule: usize, of: impl Fn(&Word) -> u64) -> bool {
        let word = self.words.get(granule / 64);
        word.is_some_and(|word| of(word) >> (granule % 64) & 1 != 0)
    }

    /// All accesses so far are before all that follow.
    pub fn barrier(&mut self) {
        for word in &mut self.words {
            word.readable = word.written & !word.pending;
            word.touched = word.forbidden;
        }
    }
}

/// Looks for the word and the granules of it that all lanes access, if no lane accesses another word.
struct InOneWord<'a> {
    at: &'a [u32; 32],
    shift: u32,
    count: u32,
}

impl WithSimd for InOneWord<'_> {
    type Output = Option<(usize, u64)>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Option<(usize, u64)> {
        let InOneWord { at, shift, count } = self;
        let first = at[0] >> shift;
        let (mut different, mut last) = (0, 0);
        for at in at {
            let granule = at >> shift;
            different |= granule ^ first;
            last |= (granule & 63) + count - 1;
        }
        if (different | last) >> 6 != 0 {
            return None;
        }
        let one = u64::MAX >> (64 - count);
        let mut bits = 0;
        for at in at {
            bits |= one << (at >> shift & 63);
        }
        Some(((first >> 6) as usize, bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(stride: u32) -> [u32; 32] {
        std::array::from_fn(|lane| lane as u32 * stride)
    }

    #[test]
    fn what_was_written_before_a_barrier_may_be_read_behind_it() {
        let mut marks = Marks::new(512, 2);
        assert!(!marks.touch(&lanes(4), 4, !0, Touch::Read));
        marks.barrier();
        assert!(marks.touch(&lanes(16), 16, !0, Touch::Write));
        assert!(!marks.touch(&lanes(4), 4, !0, Touch::Read));
        marks.barrier();
        assert!(marks.touch(&lanes(4), 4, !0, Touch::Read));
        assert!(marks.touch(&lanes(0), 4, !0, Touch::Read));
        assert!(!marks.touch(&lanes(4), 4, !0, Touch::Write));
    }

    #[test]
    fn a_copy_may_be_read_behind_the_barrier_that_follows_its_end() {
        let mut marks = Marks::new(512, 2);
        assert!(marks.touch(&lanes(16), 16, !0, Touch::Copy));
        marks.barrier();
        assert!(!marks.touch(&lanes(4), 4, !0, Touch::Read));
        marks.barrier();
        assert!(marks.touch(&lanes(16), 16, !0, Touch::Complete));
        assert!(!marks.touch(&lanes(4), 4, !0, Touch::Read));
        marks.barrier();
        assert!(marks.touch(&lanes(4), 4, !0, Touch::Read));
    }

    #[test]
    fn lanes_that_do_not_take_part_have_no_marks_and_memory_has_an_end() {
        let mut marks = Marks::new(120, 2);
        assert!(marks.touch(&lanes(4), 4, 0x3fff_ffff, Touch::Write));
        assert!(!marks.touch(&lanes(4), 4, 0x4000_0000, Touch::Write));
        assert!(!marks.touch(&lanes(256), 4, 0x8000_0000, Touch::Write));
        assert!(marks.is_written(29));
    }
}
