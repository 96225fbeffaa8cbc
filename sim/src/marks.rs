//! The state of shared memory as a few bits per granule (the unit of the race checks), for a fast check of accesses.
//!
//! Most accesses cannot take part in a race. They read data that was written before the last barrier, or they write to
//! granules that no thread has accessed since the last barrier. The bits identify such accesses for all lanes of a warp
//! at once. An access that fails this fast check can be correct, so it is then checked in full.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use crate::footprint::Footprint;
use crate::wide::wide;

/// The bits of 64 granules.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    /// Written at any time, and no undefined value was stored since.
    written: u64,
    /// The target of an asynchronous copy that is not complete.
    pending: u64,
    /// Written before the last barrier and not since. At that barrier, no asynchronous copy into the granule was
    /// pending.
    readable: u64,
    /// Accessed since the last barrier. Forbidden granules always have this bit.
    touched: u64,
    /// Outside every variable, or beyond the end of the memory.
    forbidden: u64,
}

/// The bits of all granules of a block's shared memory.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    words: Vec<Word>,
    /// The size of a granule is `1 << shift` bytes.
    shift: u32,
}

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    Read,
    Write,
    /// A write by an asynchronous copy, which completes later.
    Copy,
    /// The completion of an asynchronous copy.
    Complete,
}

impl Marks {
    /// The bits of memory that was never written.
    pub fn new(bytes: usize, shift: u32) -> Marks {
        let granules = bytes.div_ceil(1 << shift);
        let mut marks = Marks {
            words: vec![Word::default(); granules.div_ceil(64)],
            shift,
        };
        marks.forbid(granules..marks.words.len() * 64);
        marks
    }

    /// Records an access: the lanes of `mask` access `bytes` bytes each, which are whole granules or a part of one
    /// granule. Returns `false` if the access needs a full check.
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

    /// Records an access whose footprint is known. `first` is the offset that its first lane accesses. Returns `false`
    /// if the access needs a full check.
    #[inline(always)]
    pub fn touch_known(&mut self, known: &Footprint, first: u32, touch: Touch) -> bool {
        let mut stopped = 0;
        for (place, bits) in known.words(first) {
            stopped |= self.word(place, bits, touch);
        }
        stopped == 0
    }

    /// Whether all granules that the access with this footprint would touch are untouched since the last barrier.
    /// `first` is the offset that the first lane of the access uses.
    #[inline(always)]
    pub fn are_untouched_known(&self, known: &Footprint, first: u32) -> bool {
        let mut touched = 0;
        for (place, bits) in known.words(first) {
            touched |= self.words.get(place).map_or(!0, |word| word.touched) & bits;
        }
        touched == 0
    }

    /// Whether all granules that the lanes of `mask` would access are untouched since the last barrier. Each lane
    /// accesses `bytes` bytes.
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

    /// Records an access to granules of one word. Returns the granules that need a full check.
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

    /// Records an access to one granule.
    pub fn touch_one(&mut self, granule: usize, touch: Touch) {
        self.word(granule / 64, 1 << (granule % 64), touch);
    }

    /// Marks granules that no thread may access.
    pub fn forbid(&mut self, granules: Range<usize>) {
        for granule in granules {
            if let Some(word) = self.words.get_mut(granule / 64) {
                word.forbidden |= 1 << (granule % 64);
                word.touched |= word.forbidden;
            }
        }
    }

    /// Records that a granule holds no value, as if it had never been written.
    pub fn forget(&mut self, granule: usize) {
        if let Some(word) = self.words.get_mut(granule / 64) {
            let bit = 1 << (granule % 64);
            word.written &= !bit;
            word.readable &= !bit;
        }
    }

    /// Whether a granule is one that no thread may access.
    pub fn is_forbidden(&self, granule: usize) -> bool {
        self.bit(granule, |word| word.forbidden)
    }

    /// Whether a granule was written, and no undefined value was stored to it since.
    pub fn is_written(&self, granule: usize) -> bool {
        self.bit(granule, |word| word.written)
    }

    /// Whether an asynchronous copy into a granule is not complete.
    pub fn is_pending(&self, granule: usize) -> bool {
        self.bit(granule, |word| word.pending)
    }

    fn bit(&self, granule: usize, of: impl Fn(&Word) -> u64) -> bool {
        let word = self.words.get(granule / 64);
        word.is_some_and(|word| of(word) >> (granule % 64) & 1 != 0)
    }

    /// Records a barrier, which orders all earlier accesses before all later ones.
    pub fn barrier(&mut self) {
        for word in &mut self.words {
            word.readable = word.written & !word.pending;
            word.touched = word.forbidden;
        }
    }
}

/// Finds the index of the word that all lanes access, and the bits of the accessed granules. The result is `None` if
/// the lanes access several words.
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
