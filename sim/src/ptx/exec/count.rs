//! Counts what a memory access costs.

use crate::Traffic;
use crate::ptx::regs::{LANES, lanes};

/// Banks of shared memory; each is 4 bytes wide.
const BANKS: usize = 32;

/// A request of a warp to shared memory. Lanes that access 8 bytes have their turn in halves of the warp, and those that
/// access 16 in quarters; in a turn each bank gives one word a cycle.
pub(super) fn shared(traffic: &mut Traffic, at: &[u64; LANES], mask: u32, bytes: u32) {
    traffic.shared_requests += 1;
    let words = (bytes as usize).div_ceil(4).min(8);
    let turn = LANES / words;
    for first in (0..LANES).step_by(turn) {
        let part = mask & (((1u64 << turn) - 1) << first) as u32;
        traffic.shared_conflicts += conflicts(at, part, words);
    }
}

/// One matrix of `ldmatrix` or `stmatrix`: eight rows of 16 bytes at once.
pub(super) fn matrix(traffic: &mut Traffic, at: &[u64; LANES], mask: u32) {
    traffic.shared_conflicts += conflicts(at, mask, 4);
}

/// The cycles beyond the first that the lanes of a turn need for `words` words each, a power of two, at multiples of that.
/// The banks of an access then give all of its words in the same cycle, and count as one.
#[inline(always)]
fn conflicts(at: &[u64; LANES], mask: u32, words: usize) -> u64 {
    let shift = 2 + words.trailing_zeros();
    let banks = BANKS / words;
    let mut seen = [u64::MAX; BANKS];
    let mut doubtful = false;
    for lane in lanes(mask) {
        let unit = at[lane] >> shift;
        let bank = &mut seen[unit as usize % banks];
        doubtful |= *bank != unit && *bank != u64::MAX;
        *bank = unit;
    }
    match doubtful {
        true => most_different(at, mask, shift, banks) - 1,
        false => 0,
    }
}

/// The most different accesses to one bank.
#[inline(never)]
fn most_different(at: &[u64; LANES], mask: u32, shift: u32, banks: usize) -> u64 {
    let mut units = [0; LANES];
    let mut count = 0;
    for lane in lanes(mask) {
        units[count] = at[lane] >> shift;
        count += 1;
    }
    let units = &mut units[..count];
    units.sort_unstable();
    let mut cycles = [0u64; BANKS];
    let mut last = None;
    for &unit in &*units {
        if last != Some(unit) {
            cycles[unit as usize % banks] += 1;
        }
        last = Some(unit);
    }
    cycles.into_iter().max().unwrap_or(0).max(1)
}
