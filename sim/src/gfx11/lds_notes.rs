//! Accesses to shared memory that cannot be in a race with those before them, until somebody must know of them.

use super::lds_trace::Who;

/// So that a block's notes have at most a few MiB. To write them down takes longer than to remember them.
pub(super) const MAX_NOTES: usize = 1 << 14;

/// What lanes did.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Read,
    /// For each of their words, the lanes that wrote the value that was there already.
    Write {
        same: [u32; 4],
    },
}

/// What a wave asks for: `bytes` bytes for each lane of a mask.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<'a> {
    pub at: &'a [u32; 32],
    pub bytes: u32,
    pub mask: u32,
    pub who: Who,
    /// Whether it is the second access of an instruction.
    pub is_second: bool,
}

impl Request<'_> {
    /// A number that tells the accesses of a program apart.
    pub fn slot(&self) -> usize {
        2 * self.who.at as usize + usize::from(self.is_second)
    }

    #[inline(always)]
    pub fn note(&self, kind: Kind) -> Note {
        Note {
            kind,
            who: self.who,
            bytes: self.bytes,
            mask: self.mask,
            at: *self.at,
        }
    }
}

/// What became of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Noted {
    /// Its conflicts over banks.
    pub conflicts: u64,
    /// Whether nothing can be wrong with it, and it is noted. If not, each lane is to be checked.
    pub is_done: bool,
}

/// An access of a wave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Note {
    pub kind: Kind,
    pub who: Who,
    pub bytes: u32,
    pub mask: u32,
    pub at: [u32; 32],
}

impl Note {
    /// Each word that is accessed: its index, the bits of it, and whether a write left it as it was; by lane, then by address.
    pub fn words(&self) -> impl Iterator<Item = (usize, u32, bool)> {
        let (bytes, at, kind) = (self.bytes, self.at, self.kind);
        crate::lanes::of_mask(self.mask).flat_map(move |lane| {
            let first = at[lane];
            let bits = match bytes {
                1 | 2 => ((1 << (8 * bytes)) - 1) << (first % 4 * 8),
                _ => u32::MAX,
            };
            (0..bytes.div_ceil(4)).map(move |i| {
                let same = match kind {
                    Kind::Read => false,
                    Kind::Write { same } => same[i as usize] >> lane & 1 != 0,
                };
                ((first / 4 + i) as usize, bits, same)
            })
        })
    }
}
