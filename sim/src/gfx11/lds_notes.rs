//! Log entries for accesses to shared memory that race with no earlier access. See [`super::lds`].

use super::lds_trace::Who;

/// Maximum number of accesses in the log, which limits the log of a block to a few MiB. A full log is transferred to
/// the traces, which takes longer than appending to it, so a lower limit would make the simulation slower.
pub(super) const MAX_NOTES: usize = 1 << 14;

/// The kind of an access.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Read,
    /// `same` contains, for each word of a lane's access, the mask of the lanes whose write did not change the value.
    Write {
        same: [u32; 4],
    },
}

/// A request of a wave: `bytes` bytes for each lane of a mask.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<'a> {
    pub at: &'a [u32; 32],
    pub bytes: u32,
    pub mask: u32,
    pub who: Who,
    /// Whether this is the second access of an instruction.
    pub is_second: bool,
}

impl Request<'_> {
    /// A number that identifies the access in the program.
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

/// The result of logging a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Noted {
    /// The bank conflicts of the request, in cycles.
    pub conflicts: u64,
    /// Whether the request is correct and logged. Otherwise each lane must be checked.
    pub is_done: bool,
}

/// A logged access of a wave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Note {
    pub kind: Kind,
    pub who: Who,
    pub bytes: u32,
    pub mask: u32,
    pub at: [u32; 32],
}

impl Note {
    /// Each accessed word: its index, the accessed bits, and whether a write left it unchanged. Sorted by lane, then
    /// address.
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
