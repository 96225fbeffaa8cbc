//! Loads and stores of a whole warp at once. An access that does not qualify is executed lane by lane.

use std::sync::atomic::{AtomicU32, Ordering};

use pulp::{Simd, WithSimd};

use super::access::{Surroundings, Trouble, aligned, at_lane, extended, get, set};
use super::count;
use crate::lanes::spread;
use crate::ptx::cells::Intent;
use crate::ptx::code::{Access, File};
use crate::ptx::regs::{LANES, Regs, lanes};
use crate::ptx::warp::Warp;
use crate::wide::wide;
use crate::{MemoryView, Region};

/// Counts and checks an access to shared memory in all lanes of the mask.
fn check(
    s: &mut Surroundings,
    at: &[u64; LANES],
    bytes: u32,
    mask: u32,
    intent: Intent,
) -> Result<(), Trouble> {
    if count::note(s, at, bytes, mask, intent) {
        return Ok(());
    }
    for lane in lanes(mask) {
        aligned(at[lane], bytes, lane)?;
        s.shared
            .check(at[lane], bytes, intent, s.who(lane))
            .map_err(at_lane(lane))?;
    }
    Ok(())
}

/// Counts and checks a load from shared memory in all lanes of the mask, and marks the registers whose bytes hold no
/// value.
fn check_loads(
    s: &mut Surroundings,
    w: &mut Warp,
    access: &Access,
    at: &[u64; LANES],
    mask: u32,
    intent: Intent,
) -> Result<(), Trouble> {
    let bytes = access.bytes * access.regs.len() as u32;
    if count::note(s, at, bytes, mask, intent) {
        return Ok(());
    }
    for lane in lanes(mask) {
        aligned(at[lane], bytes, lane)?;
        let checked = s.shared.check_load(at[lane], bytes, intent, s.who(lane));
        let (_, missing) = checked.map_err(at_lane(lane))?;
        if let Some(missing) = &missing {
            w.mark_loaded(access, lane, missing);
        }
    }
    Ok(())
}

/// Executes a load from shared memory.
pub(super) fn load_shared(
    s: &mut Surroundings,
    w: &mut Warp,
    access: &Access,
    at: &[u64; LANES],
    mask: u32,
) -> Result<(), Trouble> {
    let intent = if access.strong {
        Intent::StrongRead
    } else {
        Intent::Read
    };
    check_loads(s, w, access, at, mask, intent)?;
    let bytes = s.shared.bytes();
    if plain(access) {
        let word = |at: u64| at as usize;
        match *access.regs.as_slice() {
            [a] => fill(&mut w.regs, [a.index], mask, |lane| {
                chunk(bytes, word(at[lane]))
            }),
            [a, b] => fill(&mut w.regs, [a.index, b.index], mask, |lane| {
                chunk(bytes, word(at[lane]))
            }),
            [a, b, c, d] => fill(
                &mut w.regs,
                [a.index, b.index, c.index, d.index],
                mask,
                |lane| chunk(bytes, word(at[lane])),
            ),
            _ => {}
        }
        return Ok(());
    }
    if is_half(access) {
        let reg = access.regs[0].index;
        fill(&mut w.regs, [reg], mask, |lane| {
            let at = at[lane] as usize;
            let bytes = bytes.get(at..).and_then(|rest| rest.first_chunk());
            [bytes.map_or(0, |bytes| u16::from_le_bytes(*bytes).into())]
        });
        return Ok(());
    }
    for (i, &reg) in access.regs.iter().enumerate() {
        for lane in lanes(mask) {
            let from = at[lane] as usize + i * access.bytes as usize;
            let value = s.shared.load(from, access.bytes);
            set(&mut w.regs, reg, lane, extended(value, access));
        }
    }
    Ok(())
}

/// Whether the access moves 1, 2 or 4 words without conversion.
fn plain(access: &Access) -> bool {
    access.bytes == 4
        && matches!(access.regs.len(), 1 | 2 | 4)
        && access.regs.iter().all(|reg| reg.file != File::Long)
}

/// Whether the access moves 16 bits that are not sign-extended.
fn is_half(access: &Access) -> bool {
    access.bytes == 2
        && !access.signed
        && access.regs.len() == 1
        && access.regs[0].file == File::Word
}

/// Fills `N` registers with the words that the function returns for each lane.
#[inline(always)]
fn fill<const N: usize>(
    regs: &mut Regs,
    to: [u32; N],
    mask: u32,
    value: impl Fn(usize) -> [u32; N],
) {
    if mask == u32::MAX {
        return wide(Fill { regs, to, value });
    }
    for lane in lanes(mask) {
        for (to, value) in to.into_iter().zip(value(lane)) {
            regs.words[to as usize][lane] = value;
        }
    }
}

/// Fills the registers of all lanes with vector instructions.
struct Fill<'a, const N: usize, F> {
    regs: &'a mut Regs,
    to: [u32; N],
    value: F,
}

impl<const N: usize, F: Fn(usize) -> [u32; N]> WithSimd for Fill<'_, N, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let mut rows = [[0; LANES]; N];
        spread(simd, &mut rows, self.value);
        for (to, row) in self.to.into_iter().zip(rows) {
            self.regs.words[to as usize] = row;
        }
    }
}

/// `N` words at an offset that was checked.
#[inline(always)]
fn chunk<const N: usize>(bytes: &[u8], at: usize) -> [u32; N] {
    let mut words = [0; N];
    let bytes = bytes[at..at + 4 * N].as_chunks::<4>().0;
    for (word, bytes) in words.iter_mut().zip(bytes) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}

/// Executes a store to shared memory.
pub(super) fn store_shared(
    s: &mut Surroundings,
    w: &mut Warp,
    access: &Access,
    at: &[u64; LANES],
    mask: u32,
) -> Result<(), Trouble> {
    let intent = if access.strong {
        Intent::StrongWrite
    } else {
        Intent::Write
    };
    check(s, at, access.bytes * access.regs.len() as u32, mask, intent)?;
    // If several lanes store to the same address, the last lane wins, separately for each element.
    for (i, &reg) in access.regs.iter().enumerate() {
        let from = i * access.bytes as usize;
        match (access.bytes, reg.file) {
            (4, File::Word) => {
                let row = &w.regs.words[reg.index as usize];
                let bytes = s.shared.bytes_mut();
                for lane in lanes(mask) {
                    let from = at[lane] as usize + from;
                    if let Some(to) = bytes.get_mut(from..from + 4) {
                        to.copy_from_slice(&row[lane].to_le_bytes());
                    }
                }
            }
            _ => {
                for lane in lanes(mask) {
                    let value = get(&w.regs, reg, lane);
                    s.shared
                        .store(at[lane] as usize + from, access.bytes, value);
                }
            }
        }
    }
    Ok(())
}

/// The allocation that contains the accesses of all lanes of the mask, and their offsets. `None` if no single
/// allocation contains them, or if one of them is not aligned.
#[inline(always)]
pub(super) fn common<'m>(
    memory: &'m MemoryView,
    at: &[u64; LANES],
    bytes: u32,
    mask: u32,
) -> Option<(&'m Region, [usize; LANES])> {
    let first = at[mask.trailing_zeros() as usize % LANES];
    let (region, _) = memory.find(first, bytes).ok()?;
    Some((region, region.offsets(at, bytes, mask, bytes)?))
}

/// `N` words of global memory at a byte offset.
#[inline(always)]
fn words<const N: usize>(words: &[AtomicU32], offset: usize) -> [u32; N] {
    let mut out = [0; N];
    if let Some(words) = words.get(offset / 4..offset / 4 + N) {
        for (out, word) in out.iter_mut().zip(words) {
            *out = word.load(Ordering::Relaxed);
        }
    }
    out
}

/// Executes a load from global memory. Returns `false` if the lanes must be handled one by one.
pub(super) fn load_global(
    s: &mut Surroundings,
    w: &mut Warp,
    access: &Access,
    at: &[u64; LANES],
    mask: u32,
) -> bool {
    let half = is_half(access);
    if !half && !plain(access) {
        return false;
    }
    let bytes = access.bytes * access.regs.len() as u32;
    let Some((region, at)) = common(s.memory, at, bytes, mask) else {
        return false;
    };
    let from = region.words();
    match *access.regs.as_slice() {
        [a] if half => fill(&mut w.regs, [a.index], mask, |lane| {
            let [word] = words(from, at[lane]);
            [word >> (at[lane] % 4 * 8) & 0xffff]
        }),
        [a] => fill(&mut w.regs, [a.index], mask, |lane| words(from, at[lane])),
        [a, b] => fill(&mut w.regs, [a.index, b.index], mask, |lane| {
            words(from, at[lane])
        }),
        [a, b, c, d] => fill(
            &mut w.regs,
            [a.index, b.index, c.index, d.index],
            mask,
            |lane| words(from, at[lane]),
        ),
        _ => {}
    }
    true
}

/// Executes a store to global memory. Returns `false` if the lanes must be handled one by one.
pub(super) fn store_global(
    s: &mut Surroundings,
    w: &mut Warp,
    access: &Access,
    at: &[u64; LANES],
    mask: u32,
) -> bool {
    if !plain(access) {
        return false;
    }
    let bytes = 4 * access.regs.len() as u32;
    let Some((region, at)) = common(s.memory, at, bytes, mask) else {
        return false;
    };
    for (i, reg) in access.regs.iter().enumerate() {
        let row = &w.regs.words[reg.index as usize];
        for lane in lanes(mask) {
            if let Some(word) = region.words().get(at[lane] / 4 + i) {
                word.store(row[lane], Ordering::Relaxed);
            }
        }
    }
    true
}
