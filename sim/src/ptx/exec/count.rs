//! Counts what a memory access costs.

use crate::Traffic;
use crate::ptx::regs::{LANES, lanes};

/// Banks of shared memory; each is 4 bytes wide.
const BANKS: usize = 32;

/// A request of a warp to shared memory. Lanes that access 8 bytes have their turn in halves of the warp, and those that
/// access 16 in quarters; in a turn each bank gives one word a cycle.
pub(super) fn shared(traffic: &mut Traffic, at: &[u64; LANES], mask: u32, bytes: u32) {
    traffic.shared_requests += 1;
    let dense = |(lane, &address): (usize, &u64)| {
        address == at[0].wrapping_add(lane as u64 * u64::from(bytes))
    };
    if mask == !0 && bytes >= 4 && at.iter().enumerate().all(dense) {
        return;
    }
    let words = (bytes as usize).div_ceil(4).min(8);
    let turn = LANES / words;
    for first in (0..LANES).step_by(turn) {
        let part = mask & (((1u64 << turn) - 1) << first) as u32;
        traffic.shared_conflicts += conflicts(at, part, words);
    }
}

fn conflicts(at: &[u64; LANES], mask: u32, words: usize) -> u64 {
    let mut used = 0u32;
    let mut word_of = [0u64; BANKS];
    let mut doubtful = false;
    for lane in lanes(mask) {
        for word in at[lane] / 4..at[lane] / 4 + words as u64 {
            let bank = word as usize % BANKS;
            doubtful |= used >> bank & 1 != 0 && word_of[bank] != word;
            used |= 1 << bank;
            word_of[bank] = word;
        }
    }
    if !doubtful {
        return 0;
    }
    let mut all: Vec<u64> = lanes(mask)
        .flat_map(|lane| at[lane] / 4..at[lane] / 4 + words as u64)
        .collect();
    all.sort_unstable();
    all.dedup();
    let mut cycles = [0u64; BANKS];
    for word in all {
        cycles[word as usize % BANKS] += 1;
    }
    cycles.iter().max().map_or(0, |most| most - 1)
}

/// One matrix of `ldmatrix` or `stmatrix`: eight rows of 16 bytes at once.
pub(super) fn matrix(traffic: &mut Traffic, at: &[u64; LANES], mask: u32) {
    traffic.shared_conflicts += conflicts(at, mask, 4);
}
