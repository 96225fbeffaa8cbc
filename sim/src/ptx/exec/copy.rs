//! Asynchronous copies (PTX ISA 9.7.9.25).

use std::sync::atomic::{AtomicU32, Ordering};

use super::access::{Surroundings, Trouble, addresses, aligned, at_lane, kind_at, region};
use super::count;
use super::whole::common;
use crate::lanes::over;
use crate::ptx::cells::Intent;
use crate::ptx::code::Address;
use crate::ptx::regs::{LANES, lanes};
use crate::ptx::warp::Warp;
use crate::{FaultKind, Region};

/// Executes `cp.async`. The data is in shared memory immediately, but is marked as pending until a wait.
pub(super) fn copy(
    s: &mut Surroundings,
    w: &mut Warp,
    (to, from): (&Address, &Address),
    bytes: u32,
    source_bytes: Option<u32>,
    mask: u32,
) -> Result<(), Trouble> {
    let (target, source) = (addresses(&w.regs, to), addresses(&w.regs, from));
    s.count_global(&source, mask, bytes);
    let noted = count::note(s, &target, bytes, mask, Intent::Copy);
    let is_done = noted && source_bytes.is_none() && whole(s, &target, &source, bytes, mask);
    if !is_done {
        let wanted = source_bytes.map_or([bytes; LANES], |reg| w.regs.words[reg as usize]);
        each_lane(s, (&target, &source), bytes, &wanted, mask, noted)?;
    }
    let who = s.who(0);
    s.shared
        .begin_copies(&target, bytes, mask, who, &w.committed);
    Ok(())
}

/// Copies for all lanes at once, from one allocation. Returns `false` if the lanes must be handled one by one.
fn whole(
    s: &mut Surroundings,
    target: &[u64; LANES],
    source: &[u64; LANES],
    bytes: u32,
    mask: u32,
) -> bool {
    let Some((region, from)) = common(s.memory, source, bytes, mask) else {
        return false;
    };
    let (from, to) = ((region.words(), &from), (s.shared.bytes_mut(), target));
    match bytes {
        4 => move_words::<1>(from, to, mask),
        8 => move_words::<2>(from, to, mask),
        16 => move_words::<4>(from, to, mask),
        _ => return false,
    }
    true
}

/// Copies `N` words per lane between offsets that were checked.
#[inline(always)]
fn move_words<const N: usize>(
    (words, source): (&[AtomicU32], &[usize; LANES]),
    (bytes, target): (&mut [u8], &[u64; LANES]),
    mask: u32,
) {
    for lane in lanes(mask) {
        let from = &words[source[lane] / 4..][..N];
        let to = &mut bytes[target[lane] as usize..][..4 * N];
        for (to, from) in to.as_chunks_mut().0.iter_mut().zip(from) {
            *to = from.load(Ordering::Relaxed).to_le_bytes();
        }
    }
}

/// Copies lane by lane. `noted` is true if the targets have already been checked.
fn each_lane(
    s: &mut Surroundings,
    (target, source): (&[u64; LANES], &[u64; LANES]),
    bytes: u32,
    wanted: &[u32; LANES],
    mask: u32,
    noted: bool,
) -> Result<(), Trouble> {
    let mut last = None;
    for lane in lanes(mask) {
        let wanted = wanted[lane];
        if wanted > bytes {
            let what = format!("`cp.async` reads {wanted} bytes, but copies {bytes}");
            return Err(kind_at(lane)(FaultKind::Invalid { what }));
        }
        aligned(source[lane], bytes, lane)?;
        if !noted {
            s.shared
                .check(target[lane], bytes, Intent::Copy, s.who(lane))
                .map_err(at_lane(lane))?;
        }
        let from = match wanted {
            0 => None,
            _ => Some(region(s.memory, &mut last, source[lane], wanted, lane)?),
        };
        let start = target[lane] as usize;
        move_bytes(
            &mut s.shared.bytes_mut()[start..start + bytes as usize],
            from,
            wanted as usize,
        );
    }
    Ok(())
}

/// Fills `to` with `wanted` bytes of global memory, at an offset that is a multiple of four, and then with zeros.
#[inline(always)]
fn move_bytes(to: &mut [u8], from: Option<(&Region, usize)>, wanted: usize) {
    let words = from.and_then(|(region, offset)| region.words().get(offset / 4..));
    let (Some(words), true) = (words, wanted == to.len()) else {
        for (i, to) in to.iter_mut().enumerate() {
            *to = match from {
                Some((region, offset)) if i < wanted => region.load_u8(offset + i),
                _ => 0,
            };
        }
        return;
    };
    for (to, from) in to.chunks_exact_mut(4).zip(words) {
        to.copy_from_slice(&from.load(Ordering::Relaxed).to_le_bytes());
    }
}

/// Executes `cp.async.wait_group`, which leaves at most `left` groups pending.
pub(super) fn wait(s: &mut Surroundings, w: &Warp, left: u32, mask: u32) {
    let groups = over(&w.committed, |committed| committed.saturating_sub(left));
    s.shared.complete(s.warp, mask, &groups);
}
