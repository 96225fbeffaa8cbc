//! The last accesses to each granule of shared memory (the unit of the race checks), for the detection of races.
//!
//! Vector clocks order the accesses of different warps (Flanagan and Freund, "FastTrack", PLDI 2009). A barrier of the
//! block joins the clocks of its warps. Atomic, volatile, acquire and release accesses join clocks through their
//! address. This orders more accesses than the ISA promises, so threads that synchronise through a flag in memory never
//! cause a false alarm.
//!
//! Some races are missed. A granule keeps only its last write and two reads by different warps, so races with further
//! reads are not found. Within a warp, a race is reported only between different groups of divergent lanes, and only if
//! no `.sync` instruction of the warp lies between the accesses. A plain load never races with an atomic operation,
//! because the 16-bit atomics in CUDA's headers begin with a plain load.

use std::collections::HashMap;

/// The warp index that stands for "no access".
const NOBODY: u8 = u8::MAX;

/// The origin of an access: the warp, the lane and the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Who {
    pub warp: u8,
    pub lane: u8,
    /// The number of the group of divergent lanes.
    pub group: u32,
    pub pc: u32,
}

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intent {
    Read,
    Write,
    /// A write by an asynchronous copy, which completes at a wait.
    Copy,
    /// A read that may synchronise threads.
    StrongRead,
    /// A write or an atomic operation that may synchronise threads.
    StrongWrite,
}

/// An access, and the clock of its warp at that time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub who: Who,
    pub clock: u32,
}

const NONE: Access = Access {
    who: Who {
        warp: NOBODY,
        lane: 0,
        group: 0,
        pc: 0,
    },
    clock: 0,
};

/// The recorded accesses to a granule.
#[derive(Clone, Copy, Debug)]
struct Cell {
    write: Access,
    reads: [Access; 2],
    /// Whether the last write may synchronise threads ([`Intent::StrongWrite`]).
    strong: bool,
}

/// The recorded accesses to all granules, and the clocks of the warps.
#[derive(Debug)]
pub(super) struct Cells {
    /// Empty until the first access is recorded. Most kernels have no access that may race, so none is recorded.
    cells: Vec<Cell>,
    count: usize,
    /// For each warp, the last known clock of every warp.
    clocks: Vec<Vec<u32>>,
    flags: HashMap<u64, Vec<u32>>,
}

impl Cells {
    pub fn new(count: usize, warps: usize) -> Cells {
        let mut clocks = vec![vec![0; warps]; warps];
        for (warp, clock) in clocks.iter_mut().enumerate() {
            clock[warp] = 1;
        }
        Cells {
            cells: Vec::new(),
            count,
            clocks,
            flags: HashMap::new(),
        }
    }

    /// Allocates the granules before the first access.
    #[inline(always)]
    fn prepare(&mut self) {
        if self.cells.is_empty() {
            let cell = Cell {
                write: NONE,
                reads: [NONE; 2],
                strong: false,
            };
            self.cells = vec![cell; self.count];
        }
    }

    /// The current clock of a warp.
    pub fn clock(&self, warp: u8) -> u32 {
        self.clocks[usize::from(warp)][usize::from(warp)]
    }

    /// The latest clock of warp `other` that `warp` knows.
    pub fn known(&self, warp: u8, other: u8) -> u32 {
        self.clocks[usize::from(warp)][usize::from(other)]
    }

    /// Checks an access, and records it. Returns the earlier reads that race with this write.
    ///
    /// # Errors
    /// The origin of the earlier write that races with this access.
    #[inline(always)]
    pub fn access(
        &mut self,
        at: usize,
        intent: Intent,
        now: Access,
    ) -> Result<[Option<Who>; 2], Who> {
        self.prepare();
        let mut raced = [None; 2];
        if intent == Intent::Read && self.is_repeated(at, now) {
            return Ok(raced);
        }
        let known = &self.clocks[usize::from(now.who.warp)];
        let races = |earlier: &Access| {
            let (then, now_who) = (&earlier.who, &now.who);
            match then.warp {
                NOBODY => false,
                warp if warp == now_who.warp => {
                    earlier.clock == now.clock
                        && then.lane != now_who.lane
                        && then.group != now_who.group
                }
                warp => known[usize::from(warp)] < earlier.clock,
            }
        };
        let cell = &mut self.cells[at];
        let both_strong = cell.strong && matches!(intent, Intent::StrongRead | Intent::StrongWrite);
        // The compare-and-swap loops in CUDA's own headers begin with a plain load.
        let of_loop = cell.strong && intent == Intent::Read;
        if !both_strong && !of_loop && races(&cell.write) {
            return Err(cell.write.who);
        }
        match intent {
            Intent::Read => {
                let [a, b] = &mut cell.reads;
                // The new read is stored in the first slot if this slot is empty, or if it contains a read by the same
                // warp or a read that happened before. Otherwise the new read is stored in the second slot.
                let place = if a.who.warp == now.who.warp || a.who.warp == NOBODY || !races(a) {
                    a
                } else {
                    b
                };
                *place = now;
            }
            Intent::StrongRead => {}
            _ => {
                if intent != Intent::StrongWrite {
                    raced = cell.reads.map(|read| races(&read).then_some(read.who));
                }
                cell.write = now;
                cell.reads = [NONE; 2];
                cell.strong = intent == Intent::StrongWrite;
            }
        }
        Ok(raced)
    }

    /// Whether the same group of lanes has already read this granule at the current clock of its warp. A write since
    /// then would have removed that read.
    #[inline(always)]
    fn is_repeated(&self, at: usize, now: Access) -> bool {
        let cell = &self.cells[at];
        let [read, _] = &cell.reads;
        read.who.warp == now.who.warp
            && read.clock == now.clock
            && read.who.group == now.who.group
            && (cell.write.who.warp != now.who.warp || cell.write.who.group == now.who.group)
    }

    /// Records the completion of an asynchronous copy as a write at the time of the wait.
    pub fn complete(&mut self, at: usize, now: Access) {
        self.prepare();
        self.cells[at].write = now;
    }

    /// Synchronises a warp through the flag at `address`. The warp joins its clocks with the clocks that earlier warps
    /// published there, and publishes the result.
    pub fn synchronise(&mut self, address: u64, warp: u8) {
        let warp = usize::from(warp);
        let clocks = &mut self.clocks[warp];
        let flag = self
            .flags
            .entry(address)
            .or_insert_with(|| vec![0; clocks.len()]);
        for (flag, clock) in flag.iter_mut().zip(clocks.iter_mut()) {
            *flag = (*flag).max(*clock);
            *clock = *flag;
        }
        clocks[warp] += 1;
    }

    /// Advances the clock of a warp at a `.sync` instruction.
    pub fn warp_sync(&mut self, warp: u8) {
        self.clocks[usize::from(warp)][usize::from(warp)] += 1;
    }

    /// The number of warps of the block.
    pub fn warps(&self) -> usize {
        self.clocks.len()
    }

    /// Joins the clocks of warps that meet at a barrier.
    pub fn barrier(&mut self, warps: &[usize]) {
        let mut joined = vec![0; self.clocks.len()];
        for &warp in warps {
            for (joined, clock) in joined.iter_mut().zip(&self.clocks[warp]) {
                *joined = (*joined).max(*clock);
            }
        }
        for &warp in warps {
            self.clocks[warp].copy_from_slice(&joined);
            self.clocks[warp][warp] += 1;
        }
    }
}
