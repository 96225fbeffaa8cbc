//! Counts what a memory access costs.

use crate::Traffic;
use crate::banks::conflicts;
use crate::lanes::over;
use crate::ptx::regs::LANES;

/// A request of a warp to shared memory. Lanes that access 8 bytes have their turn in halves of the warp, and those that
/// access 16 in quarters; in a turn each bank gives one word a cycle.
pub(super) fn shared(traffic: &mut Traffic, at: &[u64; LANES], mask: u32, bytes: u32) {
    traffic.shared_requests += 1;
    let words = (bytes as usize).div_ceil(4).min(8);
    let at = over(at, |at| at as u32);
    traffic.shared_conflicts += conflicts(&at, mask, words, LANES / words);
}

/// `ldmatrix` or `stmatrix`: of each matrix, eight rows of 16 bytes at once.
pub(super) fn matrices(traffic: &mut Traffic, at: &[u64; LANES], mask: u32) {
    let at = over(at, |at| at as u32);
    traffic.shared_conflicts += conflicts(&at, mask, 4, 8);
}
