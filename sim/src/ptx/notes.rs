//! Accesses to shared memory that cannot be in a race with those before them, until somebody must know of them.

use super::cells::{Access, Cells, Intent, Who};
use super::regs::{LANES, lanes};
use crate::marks::Touch;

/// So that a block's notes have at most a few MiB. To write them down takes longer than to remember them.
const MAX_NOTES: usize = 1 << 14;

/// An access of a warp.
#[derive(Clone, Debug)]
pub(super) struct Note {
    pub touch: Touch,
    /// The lane does not matter.
    pub who: Who,
    pub clock: u32,
    pub bytes: u32,
    pub mask: u32,
}

/// Accesses in their order.
#[derive(Debug)]
pub(super) struct Notes {
    notes: Vec<Note>,
    /// What the lanes of each access.
    at: Vec<[u32; LANES]>,
    shift: u32,
}

impl Notes {
    /// `shift` is the size of a granule as a power of two.
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

    /// No access that follows can be in a race with a noted one.
    pub fn forget(&mut self) {
        self.notes.clear();
        self.at.clear();
    }

    /// From now on the granules know of the accesses.
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
                            Ok(())
                        }
                    };
                    debug_assert!(known.is_ok(), "{note:?}");
                }
            }
        }
    }
}
