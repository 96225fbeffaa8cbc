//! The shared memory of a block, and the state of each granule of it (the unit of the race checks): whether it was
//! written, which asynchronous copy fills it, and which accesses were the last ones.
//!
//! Checking every granule of every access would be slow, so accesses that cannot race are only appended to a log. A
//! read cannot race if no thread has written to its granules since the last barrier of all warps. A write cannot race
//! if no thread has accessed its granules since that barrier. Before an access that may race is checked, the log is
//! transferred to the granules. A barrier of all warps clears the log, because nothing before such a barrier can race
//! with later accesses.

mod loads;
mod products;

use std::collections::HashMap;
use std::ops::{Range, RangeInclusive};

use crate::FaultKind;
use crate::footprint::Footprints;
use crate::lanes::{of_mask, over};
use crate::marks::{Marks, Touch};
use crate::ptx::cells::{Access, Cells, Intent, Who};
use crate::ptx::notes::{Note, Notes};
use crate::ptx::proxy::Proxy;
use crate::ptx::regs::LANES;
use crate::undefined::{Cause, Origin};

pub(super) use loads::Missing;

/// Why an access is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    Kind(FaultKind),
    /// A use of an undefined value.
    Undefined(Origin),
    /// A race at this offset, and the origin of the earlier access.
    Race(u64, Who),
}

/// A write that races with an earlier read. It is only a fault if the value that was read is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Raced {
    pub offset: u64,
    pub reader: Who,
    pub writer: Who,
}

/// The asynchronous copies of one instruction of a warp that are not complete.
#[derive(Clone, Copy, Debug)]
struct Pending {
    who: Who,
    mask: u32,
    bytes: u32,
    at: [u32; LANES],
    groups: [u32; LANES],
}

/// The shared memory of a block.
#[derive(Debug)]
pub(super) struct Shared {
    bytes: Vec<u8>,
    shift: u32,
    marks: Marks,
    footprints: Footprints,
    cells: Cells,
    notes: Notes,
    copies: Vec<Pending>,
    /// The accesses of `wgmma`. `None` if the kernel has no such instruction.
    proxy: Option<Box<Proxy>>,
    /// For granules to which an undefined value was stored, the origin of the value. An entry has no meaning after a
    /// later store to its granule.
    undefined: HashMap<usize, Origin>,
    /// The writes of the current instruction that race with earlier reads.
    raced: Vec<Raced>,
}

/// The result of recording an access of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Noted {
    /// The bank conflicts of the access.
    pub conflicts: u64,
    /// Whether the access is correct and recorded. Otherwise each lane must be checked.
    pub is_done: bool,
}

impl Shared {
    pub fn new(bytes: usize, granule: u32, warps: usize, seed: u64) -> Shared {
        let shift = granule.max(1).trailing_zeros();
        let garbage = (seed >> 7) as u8 | 0x81;
        Shared {
            bytes: vec![garbage; bytes],
            shift,
            marks: Marks::new(bytes, shift),
            footprints: Footprints::new(shift),
            cells: Cells::new(bytes.div_ceil(1 << shift), warps),
            notes: Notes::new(shift),
            copies: Vec::new(),
            proxy: None,
            undefined: HashMap::new(),
            raced: Vec::new(),
        }
    }

    /// Begins to record which writes are visible to `wgmma`.
    pub fn watch_proxy(&mut self) {
        let proxy = Proxy::new(self.bytes.len(), self.shift, self.cells.warps());
        self.proxy = Some(Box::new(proxy));
    }

    /// Forbids access to a range. Granules that are partly outside the range remain accessible.
    pub fn forbid(&mut self, range: Range<u32>) {
        let first = (range.start as usize).div_ceil(1 << self.shift);
        self.marks.forbid(first..range.end as usize >> self.shift);
    }

    /// Records an access of the lanes of `mask` if it is certainly correct.
    #[inline(always)]
    pub fn note(
        &mut self,
        at: &[u64; LANES],
        bytes: u32,
        mask: u32,
        intent: Intent,
        who: Who,
    ) -> Noted {
        let low = over(at, |at| at as u32);
        let (conflicts, known) = self.footprints.of(who.pc as usize, &low, bytes, mask);
        let touch = match intent {
            Intent::Read => Some(Touch::Read),
            Intent::Write => Some(Touch::Write),
            Intent::Copy => Some(Touch::Copy),
            Intent::StrongRead | Intent::StrongWrite => None,
        };
        let touch = touch.filter(|_| are_aligned(at, bytes, mask));
        let proxy = self.proxy.as_deref();
        let is_free = |&touch: &Touch| touch == Touch::Read || !is_read(proxy, &low, bytes, mask);
        let touch = touch.filter(is_free);
        let touch = touch.filter(|&touch| match known {
            Some(known) => self.marks.touch_known(known, low[0], touch),
            None => self.marks.touch(&low, bytes, mask, touch),
        });
        if let Some(touch) = touch {
            let note = Note {
                touch,
                who,
                clock: self.cells.clock(who.warp),
                bytes,
                mask,
            };
            self.notes.push(note, &low, &mut self.cells);
            if touch == Touch::Write
                && let Some(proxy) = &mut self.proxy
            {
                proxy.wrote(&low, bytes, mask, who.warp);
            }
        }
        Noted {
            conflicts,
            is_done: touch.is_some(),
        }
    }

    /// Checks and records an access of one lane, and returns its offset. A read of bytes that hold no value is wrong.
    ///
    /// # Errors
    /// Why the access is wrong.
    pub fn check(
        &mut self,
        offset: u64,
        bytes: u32,
        intent: Intent,
        who: Who,
    ) -> Result<usize, Wrong> {
        let (granules, access) = self.begin(offset, bytes, intent, who)?;
        for at in granules {
            if matches!(intent, Intent::Read | Intent::StrongRead)
                && let Some(from) = self.missing(at, who)
            {
                return Err(match self.undefined.get(&at) {
                    Some(from) if !self.marks.is_written(at) => Wrong::Undefined(*from),
                    _ if from.cause == Cause::Pending => {
                        let offset = from.offset.into();
                        Wrong::Kind(FaultKind::BeforeWait { offset })
                    }
                    _ => {
                        let offset = from.offset.into();
                        Wrong::Kind(FaultKind::Unwritten { offset })
                    }
                });
            }
            self.check_granule(at, intent, access)?;
        }
        Ok(offset as usize)
    }

    /// Checks the bounds of an access, and prepares the checks of its granules.
    fn begin(
        &mut self,
        offset: u64,
        bytes: u32,
        intent: Intent,
        who: Who,
    ) -> Result<(RangeInclusive<usize>, Access), Wrong> {
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
        // Access sizes are powers of two. A division per lane would take longer than the access.
        if offset & u64::from(bytes - 1) != 0 {
            return Err(Wrong::Kind(FaultKind::Misaligned {
                address: offset,
                bytes,
            }));
        }
        if let Some(proxy) = &mut self.proxy
            && !matches!(intent, Intent::Read | Intent::StrongRead)
        {
            if let Some(reader) = proxy.reader(offset, bytes) {
                return Err(Wrong::Race(offset, reader));
            }
            if intent != Intent::Copy {
                proxy.wrote(&[offset as u32; LANES], bytes, 1 << who.lane, who.warp);
            }
        }
        self.notes.settle(&mut self.cells);
        if matches!(intent, Intent::StrongRead | Intent::StrongWrite) {
            self.cells.synchronise(offset, who.warp);
        }
        let clock = self.cells.clock(who.warp);
        let access = Access { who, clock };
        let (first, end) = (
            offset as usize >> self.shift,
            (offset as usize + bytes as usize - 1) >> self.shift,
        );
        Ok((first..=end, access))
    }

    fn check_granule(&mut self, at: usize, intent: Intent, now: Access) -> Result<(), Wrong> {
        let offset = (at << self.shift) as u64;
        if self.marks.is_forbidden(at) {
            return Err(Wrong::Kind(FaultKind::BetweenVariables { offset }));
        }
        let raced = self.cells.access(at, intent, now);
        let raced = raced.map_err(|who| Wrong::Race(offset, who))?;
        let writer = now.who;
        let raced = raced.into_iter().flatten().map(|reader| Raced {
            offset,
            reader,
            writer,
        });
        self.raced.extend(raced);
        let touch = match intent {
            Intent::Read | Intent::StrongRead => Touch::Read,
            Intent::Write | Intent::StrongWrite => Touch::Write,
            Intent::Copy => Touch::Copy,
        };
        self.marks.touch_one(at, touch);
        Ok(())
    }

    /// Removes and returns the writes that race with earlier reads.
    pub fn take_raced(&mut self) -> Vec<Raced> {
        std::mem::take(&mut self.raced)
    }

    /// Whether a write races with an earlier read.
    #[inline(always)]
    pub fn has_raced(&self) -> bool {
        !self.raced.is_empty()
    }

    /// All bytes, for reads that the caller has already checked.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// All bytes, for writes that the caller has already checked.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Loads `bytes` bytes at an offset that was checked.
    pub fn load(&self, offset: usize, bytes: u32) -> u64 {
        // With a size that the compiler knows, this becomes one load instead of a call.
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

    /// Stores `bytes` bytes at an offset that was checked.
    pub fn store(&mut self, offset: usize, bytes: u32, value: u64) {
        let rest = &mut self.bytes[offset..];
        match bytes {
            4 => rest[..4].copy_from_slice(&(value as u32).to_le_bytes()),
            8 => rest[..8].copy_from_slice(&value.to_le_bytes()),
            2 => rest[..2].copy_from_slice(&(value as u16).to_le_bytes()),
            _ => rest[0] = value as u8,
        }
    }

    /// Records asynchronous copies that were checked as [`Intent::Copy`]. `groups` contains the number of each lane's
    /// open copy group.
    pub fn begin_copies(
        &mut self,
        at: &[u64; LANES],
        bytes: u32,
        mask: u32,
        who: Who,
        groups: &[u32; LANES],
    ) {
        self.copies.push(Pending {
            who,
            mask,
            bytes,
            at: over(at, |at| at as u32),
            groups: *groups,
        });
    }

    /// Completes the copies of the lanes in `mask` whose group number is below the lane's number in `groups`. For the
    /// race checks, a completed copy is a write at the time of the wait.
    pub fn complete(&mut self, warp: u8, mask: u32, groups: &[u32; LANES]) {
        let clock = self.cells.clock(warp);
        let (marks, notes, cells) = (&mut self.marks, &mut self.notes, &mut self.cells);
        let (footprints, proxy) = (&mut self.footprints, &mut self.proxy);
        self.copies.retain_mut(|copy| {
            let mut done = 0;
            for (lane, (own, end)) in copy.groups.iter().zip(groups).enumerate() {
                done |= u32::from(own < end) << lane;
            }
            done &= copy.mask & mask;
            if copy.who.warp != warp || done == 0 {
                return true;
            }
            let (_, known) = footprints.of(copy.who.pc as usize, &copy.at, copy.bytes, done);
            match known {
                Some(known) => marks.touch_known(known, copy.at[0], Touch::Complete),
                None => marks.touch(&copy.at, copy.bytes, done, Touch::Complete),
            };
            let note = Note {
                touch: Touch::Complete,
                who: copy.who,
                clock,
                bytes: copy.bytes,
                mask: done,
            };
            notes.push(note, &copy.at, cells);
            if let Some(proxy) = proxy {
                proxy.wrote(&copy.at, copy.bytes, done, warp);
            }
            copy.mask &= !done;
            copy.mask != 0
        });
    }

    /// Synchronises a warp through the flag at `address`. The warp joins its clocks with the clocks that earlier warps
    /// published there, and publishes the result.
    pub fn synchronise(&mut self, address: u64, warp: u8) {
        self.notes.settle(&mut self.cells);
        self.cells.synchronise(address, warp);
    }

    /// Records a `.sync` instruction of a warp.
    pub fn warp_sync(&mut self, warp: u8) {
        self.cells.warp_sync(warp);
    }

    /// Records a barrier of these warps.
    pub fn barrier(&mut self, warps: &[usize]) {
        if warps.len() < self.cells.warps() {
            self.notes.settle(&mut self.cells);
        } else {
            self.notes.forget();
            self.marks.barrier();
        }
        self.cells.barrier(warps);
    }
}

/// Whether a `wgmma` in flight reads one of the bytes that lanes access.
#[inline(always)]
fn is_read(proxy: Option<&Proxy>, at: &[u32; LANES], bytes: u32, mask: u32) -> bool {
    proxy.is_some_and(|proxy| {
        of_mask(mask).any(|lane| proxy.reader(at[lane].into(), bytes).is_some())
    })
}

/// Whether the offsets of all lanes of the mask are aligned and below 4 GiB.
#[inline(always)]
fn are_aligned(at: &[u64; LANES], bytes: u32, mask: u32) -> bool {
    let mut all = 0;
    for (lane, at) in at.iter().enumerate() {
        all |= match mask {
            u32::MAX => *at,
            _ => at & 0u64.wrapping_sub(u64::from(mask >> lane & 1)),
        };
    }
    all >> 32 == 0 && all & u64::from(bytes - 1) == 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WARPS: usize = 3;

    /// A random action of a warp. An access has the first offset, the stride and the size in words, and the lanes.
    #[derive(Clone, Debug)]
    enum Action {
        Access(u8, Intent, [u32; 3], u32),
        Wait(u8),
        WarpSync(u8),
        Barrier(usize),
    }

    fn action() -> impl Strategy<Value = Action> {
        let intent = prop_oneof![
            4 => Just(Intent::Read),
            3 => Just(Intent::Write),
            1 => Just(Intent::Copy),
            1 => Just(Intent::StrongRead),
            1 => Just(Intent::StrongWrite),
        ];
        let place = (0u32..12, 0u32..3, 0u32..3)
            .prop_map(|(first, stride, size)| [first, stride, 1 << size]);
        let lanes = prop_oneof![Just(!0u32), Just(0xffu32), Just(1u32), any::<u32>()];
        prop_oneof![
            8 => (0..WARPS as u8, intent, place, lanes)
                .prop_map(|(warp, intent, place, mask)| Action::Access(warp, intent, place, mask)),
            1 => (0..WARPS as u8).prop_map(Action::Wait),
            1 => (0..WARPS as u8).prop_map(Action::WarpSync),
            3 => (1..=WARPS).prop_map(Action::Barrier),
        ]
    }

    fn apply(shared: &mut Shared, notes: bool, pc: u32, action: &Action) -> Result<(), Wrong> {
        match *action {
            Action::Access(warp, intent, [first, stride, words], mask) => {
                let who = |lane: usize| Who {
                    warp,
                    lane: lane as u8,
                    group: u32::from(warp),
                    pc,
                };
                let bytes = 4 * words;
                let at =
                    crate::lanes::each(|lane| u64::from(bytes * (first + stride * lane as u32)));
                if !(notes && shared.note(&at, bytes, mask, intent, who(0)).is_done) {
                    for lane in crate::ptx::regs::lanes(mask) {
                        shared.check(at[lane], bytes, intent, who(lane))?;
                    }
                }
                if intent == Intent::Copy {
                    shared.begin_copies(&at, bytes, mask, who(0), &[0; LANES]);
                }
            }
            Action::Wait(warp) => shared.complete(warp, !0, &[1; LANES]),
            Action::WarpSync(warp) => shared.warp_sync(warp),
            Action::Barrier(count) => shared.barrier(&(0..count).collect::<Vec<_>>()),
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn accesses_that_are_noted_are_judged_as_those_that_are_checked(actions in prop::collection::vec(action(), 1..40)) {
            let [mut quick, mut full] = [(); 2].map(|()| Shared::new(1 << 10, 4, WARPS, 7));
            // There are only three instructions, so some of them repeat their earlier accesses.
            for (pc, action) in (0..3).cycle().zip(&actions) {
                let results = (apply(&mut quick, true, pc, action), apply(&mut full, false, pc, action));
                prop_assert_eq!(&results.0, &results.1);
                prop_assert_eq!(quick.take_raced(), full.take_raced());
                if results.0.is_err() {
                    break;
                }
            }
        }
    }
}
