//! Bank conflicts between the lanes of a warp in shared memory.

use crate::lanes::LANES;

/// Number of banks of shared memory. Each bank is 4 bytes wide.
const BANKS: usize = 32;

/// The bank conflicts of an access, in cycles beyond the minimum. Each lane of `mask` accesses `bytes` bytes at its
/// offset in `at`. The hardware serves a warp in one or more turns. A turn serves consecutive lanes that together
/// access at most 128 bytes, and in each cycle of a turn, each bank delivers one word to all lanes that need this word.
pub(crate) fn conflicts(at: &[u32; LANES], mask: u32, bytes: u32) -> u64 {
    let words = (bytes as usize).div_ceil(4).min(8);
    of_turns(at, mask, words, LANES / words.next_power_of_two())
}

/// The conflicts if each lane accesses `words` words and a turn serves `turn` lanes.
fn of_turns(at: &[u32; LANES], mask: u32, words: usize, turn: usize) -> u64 {
    // In an aligned access, the adjacent banks that serve one lane deliver their words together, so they are one unit.
    let unaligned = at.iter().fold(0, |all, at| all | at) & (4 * words as u32 - 4) != 0;
    match (unaligned, words) {
        (false, 1) => of_units(at, mask, (2, 1), turn),
        (false, 2) => of_units(at, mask, (3, 1), turn),
        (false, 4) => of_units(at, mask, (4, 1), turn),
        (false, 8) => of_units(at, mask, (5, 1), turn),
        _ => of_units(at, mask, (2, words), turn),
    }
}

/// The conflicts if each lane accesses `units` adjacent units of `1 << shift` bytes.
#[inline(always)]
fn of_units(at: &[u32; LANES], mask: u32, (shift, units): (u32, usize), turn: usize) -> u64 {
    let banks = BANKS >> (shift - 2);
    let mut sum = 0;
    // For each bank, the number of the turn (high half) and the unit (low half) of the bank's last access.
    let mut seen = [0u64; BANKS];
    for (number, lanes) in (1..).zip(at.chunks(turn)) {
        let mask = mask >> ((number - 1) * turn as u32);
        // `are_apart` also looks at inactive lanes, so it may return `false` although the active lanes have no
        // conflict. The loop below ignores inactive lanes.
        if are_apart(lanes, (shift, units)) {
            continue;
        }
        let mut doubtful = false;
        let mut before = None;
        for (lane, &at) in lanes.iter().enumerate() {
            // Lanes that access the same address are usually neighbours, so comparing each with the previous one skips
            // most repetitions.
            if mask >> lane & 1 == 0 || before.replace(at) == Some(at) {
                continue;
            }
            for unit in (at >> shift)..(at >> shift) + units as u32 {
                let now = u64::from(number) << 32 | u64::from(unit);
                let last = &mut seen[unit as usize % banks];
                doubtful |= *last != now && *last >> 32 == u64::from(number);
                *last = now;
            }
        }
        if doubtful {
            sum += most_different(lanes, mask, (shift, units)) - 1;
        }
    }
    sum
}

/// A quick test for a turn without conflicts. Returns `true` if all lanes access the same aligned 128 bytes, or if each
/// lane accesses one unit and no two lanes access the same bank. Returns `false` for all other turns, some of which
/// also have no conflicts.
#[inline(always)]
fn are_apart(at: &[u32], (shift, units): (u32, usize)) -> bool {
    let bytes = 4 * BANKS as u32;
    let (mut different, mut last, mut banks) = (0, 0, 0u32);
    for one in at {
        different |= one ^ at[0];
        last |= one % bytes + ((units as u32) << shift) - 1;
        banks |= 1 << (one >> shift & ((bytes >> shift) - 1));
    }
    let together = (different | if units == 1 { 0 } else { last }) < bytes;
    together || units == 1 && banks.count_ones() == at.len() as u32
}

/// The largest number of different units in any one bank that the lanes of `mask` access.
#[inline(never)]
fn most_different(at: &[u32], mask: u32, (shift, units): (u32, usize)) -> u64 {
    let banks = BANKS >> (shift - 2);
    let mut different = [0; 8 * LANES];
    let mut count = 0;
    let mut of_bank = [0u64; BANKS];
    for (lane, &at) in at.iter().enumerate() {
        if mask >> lane & 1 == 0 {
            continue;
        }
        for unit in (at >> shift)..(at >> shift) + units as u32 {
            if !different[..count].contains(&unit) {
                different[count] = unit;
                count += 1;
                of_bank[unit as usize % banks] += 1;
            }
        }
    }
    of_bank.into_iter().max().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::each;

    #[test]
    fn different_words_of_one_bank_cost_cycles_and_one_word_does_not() {
        let strided = |stride: u32| each(|lane| lane as u32 * stride);
        assert_eq!(conflicts(&strided(4), !0, 4), 0);
        assert_eq!(conflicts(&strided(0), !0, 4), 0);
        assert_eq!(conflicts(&strided(2), !0, 4), 0);
        assert_eq!(conflicts(&strided(8), !0, 4), 1);
        assert_eq!(conflicts(&strided(128), !0, 4), 31);
        assert_eq!(conflicts(&strided(132), !0, 4), 0);
        assert_eq!(conflicts(&strided(128), 0b11, 4), 1);
        assert_eq!(conflicts(&strided(16), 0xff, 16), 0);
        assert_eq!(conflicts(&strided(32), 0xff, 16), 1);
        assert_eq!(conflicts(&strided(12), 0xff, 12), 0);
        assert_eq!(conflicts(&strided(128), 0xff, 12), 7);
        assert_eq!(conflicts(&each(|lane| 4 + 16 * lane as u32), 0xff, 16), 0);
        assert_eq!(conflicts(&each(|lane| 4 + 128 * lane as u32), 0xff, 16), 7);
    }
}
