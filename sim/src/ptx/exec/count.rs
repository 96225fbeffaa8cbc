//! Counts the requests and bank conflicts of accesses to shared memory, and records the accesses.

use super::access::Surroundings;
use crate::Traffic;
use crate::banks::conflicts;
use crate::lanes::over;
use crate::ptx::cells::Intent;
use crate::ptx::regs::LANES;

/// Counts a request to shared memory whose lanes are checked one by one.
pub(super) fn shared(traffic: &mut Traffic, at: &[u64; LANES], mask: u32, bytes: u32) {
    traffic.shared_requests += 1;
    traffic.shared_conflicts += conflicts(&over(at, |at| at as u32), mask, bytes);
}

/// Counts and records a request to shared memory. Returns `false` if each lane must be checked.
#[inline(always)]
pub(super) fn note(
    s: &mut Surroundings,
    at: &[u64; LANES],
    bytes: u32,
    mask: u32,
    intent: Intent,
) -> bool {
    let noted = s.shared.note(at, bytes, mask, intent, s.who(0));
    let traffic = s.traffic();
    traffic.shared_requests += 1;
    traffic.shared_conflicts += noted.conflicts;
    noted.is_done
}
