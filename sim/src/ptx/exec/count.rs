//! Counts what an access to shared memory costs, and remembers it.

use super::access::Surroundings;
use crate::Traffic;
use crate::banks::conflicts;
use crate::lanes::over;
use crate::ptx::cells::Intent;
use crate::ptx::regs::LANES;

/// A request of a warp to shared memory, whose lanes are checked one by one.
pub(super) fn shared(traffic: &mut Traffic, at: &[u64; LANES], mask: u32, bytes: u32) {
    traffic.shared_requests += 1;
    traffic.shared_conflicts += conflicts(&over(at, |at| at as u32), mask, bytes);
}

/// A request of a warp to shared memory, which is remembered; `false` if each lane is to be checked.
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
