//! The shared memory of a block (LDS), and the detection of races on it.
//!
//! A load of a byte that holds no value, because nothing has written it or because an undefined value was stored to it,
//! returns an undefined value. Between two barriers, if one wave writes a byte, no other wave may
//! read or write this byte. There are two exceptions: a write that does not change the value, and two waves that both
//! executed an atomic operation since the last barrier, because these operations may have ordered the waves.
//!
//! Checking every byte of every access would be slow, so accesses that cannot race are only appended to a log. A read
//! cannot race if no wave has written to its words since the last barrier. A write cannot race if no wave has accessed
//! its words since that barrier. Before an access that may race is checked, the log is transferred to the traces, which
//! contain the readers and writers of each word. A barrier clears the log, because logged accesses cannot race with
//! later ones.

use std::collections::HashMap;

use super::lds_notes::{Kind, MAX_NOTES, Note, Noted, Request};
use super::lds_trace::{Former, QUIET, SEVERAL, Trace, UNTOUCHED, Who};
use crate::FaultKind;
use crate::footprint::Footprints;
use crate::lanes::of_mask;
use crate::marks::{Marks, Touch};
use crate::undefined::{Cause, NO_LANE, Origin};

/// Why an access to shared memory failed.
#[derive(Debug)]
pub(super) enum ShareFault {
    /// The access itself is wrong.
    Plain(FaultKind),
    /// A use of an undefined value.
    Undefined(Origin),
    /// A race with another wave, which executed the instruction `at`.
    Race { offset: u64, wave: u8, at: u32 },
}

impl From<FaultKind> for ShareFault {
    fn from(kind: FaultKind) -> ShareFault {
        ShareFault::Plain(kind)
    }
}

/// The result of a load.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Loaded {
    pub words: [u32; 4],
    /// The undefined bits of the words.
    pub undefined: [u32; 4],
    /// The origin of the first undefined bits, if there are any.
    pub from: Option<Origin>,
}

/// The shared memory of a block.
pub(super) struct Lds {
    bytes: usize,
    words: Vec<u32>,
    traces: Vec<Trace>,
    interval: u32,
    /// The waves that executed an atomic operation since the last barrier, one bit each.
    atomics: u32,
    marks: Marks,
    footprints: Footprints,
    notes: Vec<Note>,
    /// For bytes to which an undefined value was stored, the origin of the value. An entry has no meaning after a later
    /// store to its byte.
    undefined: HashMap<u64, Origin>,
}

impl Lds {
    /// Shared memory of `bytes` bytes, filled with garbage.
    pub fn new(bytes: usize, garbage: impl FnMut() -> u32) -> Lds {
        let count = bytes.div_ceil(4);
        let words = std::iter::repeat_with(garbage).take(count).collect();
        Lds {
            bytes,
            words,
            traces: vec![UNTOUCHED; count],
            interval: 1,
            atomics: 0,
            // An incomplete last word has no marks, so accesses to it are always checked in full.
            marks: Marks::new(bytes / 4 * 4, 2),
            footprints: Footprints::new(2),
            notes: Vec::new(),
            undefined: HashMap::new(),
        }
    }

    /// Records that all waves passed a barrier.
    pub fn next_interval(&mut self) {
        self.interval += 1;
        self.atomics = 0;
        self.marks.barrier();
        self.notes.clear();
    }

    /// Logs a load if it is certainly correct.
    pub fn note_load(&mut self, request: &Request) -> Noted {
        let Request {
            at, bytes, mask, ..
        } = *request;
        let (conflicts, known) = self.footprints.of(request.slot(), at, bytes, mask);
        let is_done = are_within_words(at, bytes, mask)
            && match known {
                Some(known) => self.marks.touch_known(known, at[0], Touch::Read),
                None => self.marks.touch(at, bytes, mask, Touch::Read),
            };
        if is_done {
            self.push(request.note(Kind::Read));
        }
        Noted { conflicts, is_done }
    }

    /// Stores the words that `value(lane, word)` returns, and logs the store, if the store is certainly correct.
    #[inline(always)]
    pub fn note_store(&mut self, request: &Request, value: impl Fn(usize, usize) -> u32) -> Noted {
        let Request {
            at, bytes, mask, ..
        } = *request;
        let (conflicts, known) = self.footprints.of(request.slot(), at, bytes, mask);
        let is_done = bytes.is_multiple_of(4)
            && are_within_words(at, bytes, mask)
            && match known {
                Some(known) => self.marks.are_untouched_known(known, at[0]),
                None => self.marks.are_untouched(at, bytes, mask),
            };
        if is_done {
            let same = put(&mut self.words, &self.marks, request, value);
            match known {
                Some(known) => self.marks.touch_known(known, at[0], Touch::Write),
                None => self.marks.touch(at, bytes, mask, Touch::Write),
            };
            self.push(request.note(Kind::Write { same }));
        }
        Noted { conflicts, is_done }
    }

    #[inline(always)]
    fn push(&mut self, note: Note) {
        if self.notes.len() == MAX_NOTES {
            self.settle();
        }
        self.notes.push(note);
    }

    /// Transfers the log to the traces, before an access that may race is checked.
    #[inline]
    fn settle(&mut self) {
        if !self.notes.is_empty() {
            self.write_down();
        }
    }

    #[inline(never)]
    fn write_down(&mut self) {
        for note in std::mem::take(&mut self.notes) {
            for (word, bits, same) in note.words() {
                // Logged accesses are correct, so the results can be ignored.
                match note.kind {
                    Kind::Read => drop(self.note_reader(word, bits, note.who)),
                    Kind::Write { .. } => drop(self.note_writer(word, bits, same, note.who)),
                }
            }
        }
    }

    /// All words, for loads that the caller has already checked.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Records that a wave executed an atomic operation, in any memory.
    pub fn note_atomic(&mut self, wave: u8) {
        self.atomics |= 1 << (wave & 31);
    }

    fn check(&self, address: u64, bytes: u32) -> Result<(), FaultKind> {
        match address + u64::from(bytes) <= self.bytes as u64 {
            true => Ok(()),
            false => Err(FaultKind::SharedOutOfBounds {
                offset: address,
                bytes,
                size: self.bytes,
            }),
        }
    }

    /// Loads up to 16 bytes as words.
    pub fn load(&mut self, address: u64, bytes: u32, who: Who) -> Result<Loaded, ShareFault> {
        self.check(address, bytes)?;
        self.settle();
        let mut loaded = Loaded::default();
        if address.is_multiple_of(4) && bytes.is_multiple_of(4) {
            let first = (address / 4) as usize;
            for i in 0..bytes as usize / 4 {
                loaded.undefined[i] = self.reads(first + i, u32::MAX, who)?;
                loaded.words[i] = self.words[first + i];
            }
        } else {
            for i in 0..bytes as usize {
                let at = address as usize + i;
                let (from, to) = (at % 4 * 8, i % 4 * 8);
                let undefined = self.reads(at / 4, 0xff << from, who)?;
                loaded.undefined[i / 4] |= undefined >> from << to;
                loaded.words[i / 4] |= (self.words[at / 4] >> from & 0xff) << to;
            }
        }
        let byte = (0..u64::from(bytes))
            .find(|&i| loaded.undefined[i as usize / 4] >> (i % 4 * 8) & 0xff != 0);
        loaded.from = byte.map(|byte| self.origin(address + byte, who));
        Ok(loaded)
    }

    /// The origin of the undefined value of a byte.
    fn origin(&self, offset: u64, who: Who) -> Origin {
        let stored = self.undefined.get(&offset).copied();
        stored.unwrap_or(Origin {
            at: who.at,
            warp: who.wave,
            lane: NO_LANE,
            offset: offset as u32,
            cause: Cause::Unwritten,
        })
    }

    /// Records that undefined values were stored to bytes. The store was already executed.
    pub fn store_undefined(&mut self, bytes: impl IntoIterator<Item = (u64, Origin)>) {
        self.settle();
        for (offset, from) in bytes {
            let word = (offset / 4) as usize;
            self.trace(word).written &= !(0xff << (offset % 4 * 8));
            self.marks.forget(word);
            self.undefined.insert(offset, from);
        }
    }

    /// Stores up to 16 bytes.
    pub fn store(
        &mut self,
        address: u64,
        bytes: u32,
        value: &[u32; 4],
        who: Who,
    ) -> Result<(), ShareFault> {
        self.check(address, bytes)?;
        self.settle();
        if address.is_multiple_of(4) && bytes.is_multiple_of(4) {
            let first = (address / 4) as usize;
            for (i, &value) in value.iter().take(bytes as usize / 4).enumerate() {
                self.writes(first + i, u32::MAX, value, who)?;
            }
            return Ok(());
        }
        for i in 0..bytes as usize {
            let at = address as usize + i;
            let (shift, byte) = (at % 4 * 8, value[i / 4] >> (i % 4 * 8) & 0xff);
            self.writes(at / 4, 0xff << shift, byte << shift, who)?;
        }
        Ok(())
    }

    /// Replaces 4 or 8 bytes by a function of their value. Returns the previous value.
    pub fn update(
        &mut self,
        address: u64,
        bytes: u32,
        who: Who,
        f: impl FnOnce(u64) -> u64,
    ) -> Result<u64, ShareFault> {
        self.check(address, bytes)?;
        if !address.is_multiple_of(u64::from(bytes)) {
            return Err(FaultKind::Misaligned { address, bytes }.into());
        }
        self.note_atomic(who.wave);
        let first = (address / 4) as usize;
        let high = if bytes == 8 { self.words[first + 1] } else { 0 };
        for word in first..first + bytes as usize / 4 {
            if !self.marks.is_written(word) {
                let offset = word as u64 * 4;
                let stored = (offset..offset + 4).find_map(|byte| self.undefined.get(&byte));
                return Err(match stored {
                    Some(from) => ShareFault::Undefined(*from),
                    None => FaultKind::Unwritten { offset }.into(),
                });
            }
        }
        let old = u64::from(self.words[first]) | u64::from(high) << 32;
        let new = f(old);
        self.words[first] = new as u32;
        if bytes == 8 {
            self.words[first + 1] = (new >> 32) as u32;
        }
        Ok(old)
    }

    /// The trace of a word, updated to the current interval between barriers.
    #[inline]
    fn trace(&mut self, word: usize) -> &mut Trace {
        let trace = &mut self.traces[word];
        if self.marks.is_written(word) {
            trace.written = u32::MAX;
        }
        if trace.interval != self.interval {
            *trace = Trace {
                written: trace.written,
                interval: self.interval,
                ..UNTOUCHED
            };
        }
        trace
    }

    /// Checks and records that a wave reads bits of a word. Returns the bits that hold no value. Their read is not
    /// recorded, because a use of the value is a fault in any case.
    #[inline]
    fn reads(&mut self, word: usize, mask: u32, who: Who) -> Result<u32, ShareFault> {
        let written = self.trace(word).written & mask;
        let undefined = mask & !written;
        if written == 0 {
            return Ok(undefined);
        }
        self.marks.touch_one(word, Touch::Read);
        match self.note_reader(word, written, who) {
            None => {}
            Some(Former { byte, waves, .. }) if (waves >> (8 * byte)) as u8 & QUIET != 0 => {}
            Some(former) => self.race(word, former, who)?,
        }
        Ok(undefined)
    }

    /// Records a read. Returns the earlier write of another wave, if there is one.
    #[inline]
    fn note_reader(&mut self, word: usize, mask: u32, who: Who) -> Option<Former> {
        let me = u32::from(who.wave) * 0x0101_0101;
        let trace = self.trace(word);
        let former = Former::of(trace.writers, trace.writer_at, me, mask);
        let others = trace.readers & mask;
        trace.readers = match others == mask || others == me & mask {
            true => trace.readers & !mask | me & mask,
            false => trace.readers & !mask | (u32::from(SEVERAL) * 0x0101_0101) & mask,
        };
        trace.reader_at = who.at;
        former
    }

    /// Checks, executes and records a write of a wave to bits of a word.
    #[inline]
    fn writes(&mut self, word: usize, mask: u32, value: u32, who: Who) -> Result<(), ShareFault> {
        let old = self.words[word];
        let trace = self.trace(word);
        let same = trace.written & mask == mask && old & mask == value & mask;
        let former = self.note_writer(word, mask, same, who);
        let touch = match self.traces[word].written {
            u32::MAX => Touch::Write,
            // Parts of the word may still be unwritten, so the word is only marked as accessed.
            _ => Touch::Read,
        };
        self.marks.touch_one(word, touch);
        self.words[word] = old & !mask | value & mask;
        match former {
            Some(former) if !same => self.race(word, former, who),
            _ => Ok(()),
        }
    }

    /// Records a write. Returns the earlier access of another wave, if there is one.
    #[inline]
    fn note_writer(&mut self, word: usize, mask: u32, same: bool, who: Who) -> Option<Former> {
        let me = u32::from(who.wave) * 0x0101_0101;
        let trace = self.trace(word);
        let former = Former::of(trace.writers, trace.writer_at, me, mask)
            .or_else(|| Former::of(trace.readers, trace.reader_at, me, mask));
        trace.written |= mask;
        // A write that does not change the value does not conflict with reads by other waves. If only this wave has
        // written the value (`quiet`), it may change the value later. If several waves have, none may.
        let quiet = me | (u32::from(QUIET) * 0x0101_0101);
        let earlier = trace.writers & mask;
        let writer = if !same || earlier == me & mask {
            me
        } else if earlier == mask || earlier == quiet & mask {
            quiet
        } else {
            u32::from(SEVERAL) * 0x0101_0101
        };
        trace.writers = trace.writers & !mask | writer & mask;
        trace.writer_at = who.at;
        former
    }

    /// Returns the race with another wave's access to a byte as an error, unless atomic operations may have ordered the
    /// two waves.
    fn race(&self, word: usize, former: Former, who: Who) -> Result<(), ShareFault> {
        let Former { byte, waves, at } = former;
        let wave = match (waves >> (8 * byte)) as u8 {
            SEVERAL => SEVERAL,
            one => one & !QUIET,
        };
        let both = 1u32 << (who.wave & 31) | 1u32.checked_shl(wave.into()).unwrap_or(0);
        // If there are several readers, atomic operations may have ordered any of them.
        if self.atomics & both == both || wave == SEVERAL && self.atomics != 0 {
            return Ok(());
        }
        Err(ShareFault::Race {
            offset: word as u64 * 4 + u64::from(byte),
            wave,
            at,
        })
    }
}

/// Stores `value(lane, word)`. Returns, for each word of an access, the lanes whose store did not change the memory.
#[inline(always)]
fn put(
    memory: &mut [u32],
    marks: &Marks,
    request: &Request,
    value: impl Fn(usize, usize) -> u32,
) -> [u32; 4] {
    let mut same = [0; 4];
    let count = request.bytes as usize / 4;
    for lane in of_mask(request.mask) {
        let first = request.at[lane] as usize / 4;
        let words = &mut memory[first..first + count];
        for (i, (word, same)) in words.iter_mut().zip(&mut same).enumerate() {
            let value = value(lane, i);
            // A garbage value does not count as a value that was already there.
            if *word == value && marks.is_written(first + i) {
                *same |= 1 << lane;
            }
            *word = value;
        }
    }
    same
}

/// Whether each access consists of whole words, or lies within one word.
#[inline(always)]
fn are_within_words(at: &[u32; 32], bytes: u32, mask: u32) -> bool {
    let mut all = 0;
    for (lane, at) in at.iter().enumerate() {
        all |= at & 0u32.wrapping_sub(mask >> lane & 1);
    }
    // An aligned part of a word does not cross the end of the word.
    all & (bytes.min(4) - 1) == 0
}

#[cfg(test)]
#[path = "lds_tests.rs"]
mod tests;
