//! Who accessed each granule of shared memory last.
//!
//! Order between warps is a vector clock (Flanagan and Freund, "FastTrack", PLDI 2009): barriers of the block join the
//! clocks of their warps; atomic, volatile, acquiring and releasing accesses join through their address, more than the
//! ISA promises, so that flags never cause a false alarm. A granule keeps its last write and two reads by different warps:
//! races with other reads can be missed. Within a warp a race is reported only between different groups of divergent
//! lanes, and only if no `.sync` instruction of the warp lies between. A plain load is never in a race with an atomic
//! operation, because the 16-bit atomics of CUDA's headers begin with one: such a race can be missed.

use std::collections::HashMap;

/// No access.
const NOBODY: u8 = u8::MAX;

/// Who accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Who {
    pub warp: u8,
    pub lane: u8,
    /// The group of divergent lanes.
    pub group: u32,
    pub pc: u32,
}

/// How an access is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intent {
    Read,
    Write,
    /// A write that completes at a wait.
    Copy,
    /// A read that may synchronise.
    StrongRead,
    /// A write or an atomic operation that may synchronise.
    StrongWrite,
}

/// An access at a moment of its warp's clock.
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

/// The accesses to a granule.
#[derive(Clone, Copy, Debug)]
struct Cell {
    write: Access,
    reads: [Access; 2],
    /// The last write was atomic or volatile.
    strong: bool,
}

/// The accesses to all granules, and the clocks of the warps.
#[derive(Debug)]
pub(super) struct Cells {
    /// None until the first access is remembered: most kernels have none that may be in a race.
    cells: Vec<Cell>,
    count: usize,
    /// What each warp knows of each other's clock.
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

    /// Makes sure that granules are there.
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

    /// The moment of a warp's clock.
    pub fn clock(&self, warp: u8) -> u32 {
        self.clocks[usize::from(warp)][usize::from(warp)]
    }

    /// Remembers an access.
    ///
    /// # Errors
    /// The earlier access that it is in a race with.
    #[inline(always)]
    pub fn access(&mut self, at: usize, intent: Intent, now: Access) -> Result<(), Who> {
        self.prepare();
        if intent == Intent::Read && self.is_repeated(at, now) {
            return Ok(());
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
        // A compare-and-swap loop of CUDA's own headers begins with a plain load.
        let of_loop = cell.strong && intent == Intent::Read;
        if !both_strong && !of_loop && races(&cell.write) {
            return Err(cell.write.who);
        }
        match intent {
            Intent::Read => {
                let [a, b] = &mut cell.reads;
                // The older of two reads gives way, but a warp has only one place.
                let place = if a.who.warp == now.who.warp || a.who.warp == NOBODY || !races(a) {
                    a
                } else {
                    b
                };
                *place = now;
            }
            Intent::StrongRead => {}
            _ => {
                let read = cell.reads.iter().find(|read| races(read));
                if let Some(read) = read.filter(|_| intent != Intent::StrongWrite) {
                    return Err(read.who);
                }
                cell.write = now;
                cell.reads = [NONE; 2];
                cell.strong = intent == Intent::StrongWrite;
            }
        }
        Ok(())
    }

    /// Whether the warp read it before at this moment of its clock; a write since then would have removed that read.
    #[inline(always)]
    fn is_repeated(&self, at: usize, now: Access) -> bool {
        let cell = &self.cells[at];
        let [read, _] = &cell.reads;
        read.who.warp == now.who.warp
            && read.clock == now.clock
            && read.who.group == now.who.group
            && (cell.write.who.warp != now.who.warp || cell.write.who.group == now.who.group)
    }

    /// A copy completes: it is a write of this moment.
    pub fn complete(&mut self, at: usize, now: Access) {
        self.prepare();
        self.cells[at].write = now;
    }

    /// A flag at an address: what the warps before knew, this one knows.
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

    /// A `.sync` instruction of a warp.
    pub fn warp_sync(&mut self, warp: u8) {
        self.clocks[usize::from(warp)][usize::from(warp)] += 1;
    }

    /// The number of warps.
    pub fn warps(&self) -> usize {
        self.clocks.len()
    }

    /// A barrier of these warps.
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
