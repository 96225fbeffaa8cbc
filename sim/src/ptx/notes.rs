//! A log of accesses to shared memory that race with no earlier access. Before an access that may race is checked, the
//! log is transferred to [`Cells`].

use super::cells::{Access, Cells, Intent, Who};
use super::regs::{LANES, lanes};
use crate::marks::Touch;

/// Maximum number of accesses in the log, which limits the log of a block to a few MiB. A full log is transferred to
/// [`Cells`], which takes longer than appending to it, so a lower limit would make the simulation slower.
const MAX_NOTES: usize = 1 << 14;

/// One access of a warp.
#[derive(Clone, Debug)]
pub(super) struct Note {
    pub touch: Touch,
    /// The origin of the access. Its lane is ignored.
    pub who: Who,
    pub clock: u32,
    pub bytes: u32,
    pub mask: u32,
}

/// The accesses, in the order of execution.
#[derive(Debug)]
pub(super) struct Notes {
    notes: Vec<Note>,
    /// The offsets that the lanes of each access use.
    at: Vec<[u32; LANES]>,
    shift: u32,
}

impl Notes {
    /// A log for granules of `1 << shift` bytes.
    pub fn new(shift: u32) -> Notes {
        Notes {
            notes: Vec::new(),
            at: Vec::new(),
            shift,
        }
    }

    #[inline(always)]
    pub fn push(&mut self, note: Note, at: &[u32; LANES], cells: &mut Cells) {
        if self.notes.len() == MAX_NOTES {
            self.settle(cells);
        }
        self.notes.push(note);
        self.at.push(*at);
    }

    /// Clears the log, because no later access can race with a logged one.
    pub fn forget(&mut self) {
        self.notes.clear();
        self.at.clear();
    }

    /// Transfers the log to the granules.
    #[inline]
    pub fn settle(&mut self, cells: &mut Cells) {
        if !self.notes.is_empty() {
            self.write_down(cells);
        }
    }

    #[inline(never)]
    fn write_down(&mut self, cells: &mut Cells) {
        for (note, at) in self.notes.drain(..).zip(self.at.drain(..)) {
            for lane in lanes(note.mask) {
                let who = Who {
                    lane: lane as u8,
                    ..note.who
                };
                let now = Access {
                    who,
                    clock: note.clock,
                };
                let first = at[lane] >> self.shift;
                for at in first..first + (note.bytes >> self.shift) {
                    let at = at as usize;
                    let known = match note.touch {
                        Touch::Read => cells.access(at, Intent::Read, now),
                        Touch::Write => cells.access(at, Intent::Write, now),
                        Touch::Copy => cells.access(at, Intent::Copy, now),
                        Touch::Complete => {
                            cells.complete(at, now);
                            Ok([None; 2])
                        }
                    };
                    debug_assert!(known == Ok([None; 2]), "{note:?}");
                }
            }
        }
    }
}
