//! A block's shared memory, and what is known about each part of it: whether it was written, which asynchronous copy fills
//! it, and who accessed it last.
//!
//! Order between warps is a vector clock (Flanagan and Freund, "FastTrack", PLDI 2009): barriers of the block join the
//! clocks of their warps; atomic, volatile, acquiring and releasing accesses join through their address, more than the
//! ISA promises, so that flags never cause a false alarm. A part keeps its last write and two reads by different warps:
//! races with other reads can be missed. Within a warp a race is reported only between different groups of divergent
//! lanes, and only if no `.sync` instruction of the warp lies between. A plain load is never in a race with an atomic
//! operation, because the 16-bit atomics of CUDA's headers begin with one: such a race can be missed.

use std::collections::HashMap;
use std::ops::Range;

use crate::FaultKind;

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

#[derive(Clone, Copy, Debug)]
struct Access {
    who: Who,
    clock: u32,
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

/// What is known about a granule.
#[derive(Clone, Copy, Debug)]
struct Cell {
    write: Access,
    reads: [Access; 2],
    written: bool,
    pending: bool,
    /// The last write was atomic or volatile.
    strong: bool,
}

/// What is wrong with an access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    Kind(FaultKind),
    /// A race at an offset with an earlier access.
    Race(u64, Who),
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

/// A copy that is not complete.
#[derive(Clone, Copy, Debug)]
struct Pending {
    warp: u8,
    lane: u8,
    group: u32,
    first: u32,
    end: u32,
}

/// Shared memory.
#[derive(Debug)]
pub(super) struct Shared {
    bytes: Vec<u8>,
    cells: Vec<Cell>,
    shift: u32,
    /// What each warp knows of each other's clock.
    clocks: Vec<Vec<u32>>,
    flags: HashMap<u64, Vec<u32>>,
    copies: Vec<Pending>,
}

impl Shared {
    pub fn new(bytes: usize, granule: u32, warps: usize, seed: u64) -> Shared {
        let shift = granule.max(1).trailing_zeros();
        let cell = Cell {
            write: NONE,
            reads: [NONE; 2],
            written: false,
            pending: false,
            strong: false,
        };
        let garbage = (seed >> 7) as u8 | 0x81;
        // One more than there are: whoever owns what belongs to no variable.
        let mut clocks = vec![vec![0; warps + 1]; warps + 1];
        for (warp, clock) in clocks.iter_mut().enumerate() {
            clock[warp] = 1;
        }
        Shared {
            bytes: vec![garbage; bytes],
            cells: vec![cell; bytes.div_ceil(1 << shift)],
            shift,
            clocks,
            flags: HashMap::new(),
            copies: Vec::new(),
        }
    }

    /// Forbids access to a range, of which only whole granules can be told from what lies next to it: a warp that does
    /// not exist writes there at the end of time.
    pub fn forbid(&mut self, range: Range<u32>) {
        let (first, end) = (
            (range.start as usize).div_ceil(1 << self.shift),
            range.end as usize >> self.shift,
        );
        let who = Who {
            warp: self.nobody(),
            ..NONE.who
        };
        let write = Access {
            who,
            clock: u32::MAX,
        };
        let end = end.min(self.cells.len());
        for cell in self.cells.get_mut(first..end).unwrap_or_default() {
            cell.write = write;
            cell.written = true;
        }
    }

    /// The warp that does not exist.
    fn nobody(&self) -> u8 {
        (self.clocks.len() - 1) as u8
    }

    /// Checks an access of a lane, and remembers it.
    #[inline]
    pub fn check(
        &mut self,
        offset: u64,
        bytes: u32,
        intent: Intent,
        who: Who,
    ) -> Result<usize, Wrong> {
        let size = self.bytes.len();
        if offset
            .checked_add(u64::from(bytes))
            .is_none_or(|end| end > size as u64)
        {
            return Err(Wrong::Kind(FaultKind::SharedOutOfBounds {
                offset,
                bytes,
                size,
            }));
        }
        // Sizes are powers of two, and a division for each lane would take longer than the access.
        if offset & u64::from(bytes - 1) != 0 {
            return Err(Wrong::Kind(FaultKind::Misaligned {
                address: offset,
                bytes,
            }));
        }
        if matches!(intent, Intent::StrongRead | Intent::StrongWrite) {
            self.synchronise(offset, who.warp);
        }
        let clock = self.clocks[usize::from(who.warp)][usize::from(who.warp)];
        let access = Access { who, clock };
        let (first, end) = (
            offset as usize >> self.shift,
            (offset as usize + bytes as usize - 1) >> self.shift,
        );
        for at in first..=end {
            self.check_cell(at, intent, access)
                .map_err(|wrong| self.wrong(wrong, at))?;
        }
        Ok(offset as usize)
    }

    fn wrong(&self, wrong: CellWrong, at: usize) -> Wrong {
        let offset = (at << self.shift) as u64;
        match wrong {
            CellWrong::Unwritten => Wrong::Kind(FaultKind::Unwritten { offset }),
            CellWrong::BeforeWait => Wrong::Kind(FaultKind::BeforeWait { offset }),
            CellWrong::Race(who) if who.warp == self.nobody() => {
                Wrong::Kind(FaultKind::BetweenVariables { offset })
            }
            CellWrong::Race(who) => Wrong::Race(offset, who),
        }
    }

    #[inline(always)]
    fn check_cell(&mut self, at: usize, intent: Intent, now: Access) -> Result<(), CellWrong> {
        if intent == Intent::Read {
            // The warp read it before at this moment of its clock, and a write since then would have removed that read.
            let cell = &self.cells[at];
            let [read, _] = &cell.reads;
            let again = read.who.warp == now.who.warp
                && read.clock == now.clock
                && read.who.group == now.who.group;
            if again
                && (cell.write.who.warp != now.who.warp || cell.write.who.group == now.who.group)
            {
                return Ok(());
            }
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
        if intent == Intent::Read || intent == Intent::StrongRead {
            if !cell.written {
                return Err(CellWrong::Unwritten);
            }
            if cell.pending {
                return Err(CellWrong::BeforeWait);
            }
        }
        // A compare-and-swap loop of CUDA's own headers begins with a plain load.
        let of_loop = cell.strong && intent == Intent::Read;
        if !both_strong && !of_loop && races(&cell.write) {
            return Err(CellWrong::Race(cell.write.who));
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
                    return Err(CellWrong::Race(read.who));
                }
                cell.write = now;
                cell.reads = [NONE; 2];
                cell.written = true;
                cell.pending = intent == Intent::Copy;
                cell.strong = intent == Intent::StrongWrite;
            }
        }
        Ok(())
    }

    /// The bytes at an offset that was checked.
    pub fn load(&self, offset: usize, bytes: u32) -> u64 {
        // A size that the compiler knows is one load instead of a call.
        let rest = &self.bytes[offset..];
        match bytes {
            4 => rest
                .first_chunk()
                .map_or(0, |word| u32::from_le_bytes(*word).into()),
            8 => rest
                .first_chunk()
                .map_or(0, |word| u64::from_le_bytes(*word)),
            2 => rest
                .first_chunk()
                .map_or(0, |word| u16::from_le_bytes(*word).into()),
            _ => rest.first().map_or(0, |&byte| byte.into()),
        }
    }

    /// Stores bytes at an offset that was checked.
    pub fn store(&mut self, offset: usize, bytes: u32, value: u64) {
        let rest = &mut self.bytes[offset..];
        match bytes {
            4 => rest[..4].copy_from_slice(&(value as u32).to_le_bytes()),
            8 => rest[..8].copy_from_slice(&value.to_le_bytes()),
            2 => rest[..2].copy_from_slice(&(value as u16).to_le_bytes()),
            _ => rest[0] = value as u8,
        }
    }

    /// Remembers an asynchronous copy that was checked as [`Intent::Copy`].
    pub fn begin_copy(&mut self, offset: usize, bytes: u32, who: Who, group: u32) {
        self.copies.push(Pending {
            warp: who.warp,
            lane: who.lane,
            group,
            first: (offset >> self.shift) as u32,
            end: ((offset + bytes as usize - 1) >> self.shift) as u32,
        });
    }

    /// Completes the copies of a lane's groups before `group`: they are writes of this moment.
    pub fn complete(&mut self, warp: u8, mask: u32, groups: &[u32; 32]) {
        let clock = self.clocks[usize::from(warp)][usize::from(warp)];
        let cells = &mut self.cells;
        self.copies.retain(|copy| {
            let lane = usize::from(copy.lane);
            let done = copy.warp == warp && mask >> lane & 1 != 0 && copy.group < groups[lane];
            if done {
                for cell in &mut cells[copy.first as usize..=copy.end as usize] {
                    cell.pending = false;
                    cell.write.clock = clock;
                }
            }
            !done
        });
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

enum CellWrong {
    Unwritten,
    BeforeWait,
    Race(Who),
}
