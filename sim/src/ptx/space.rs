//! Generic addresses. Shared, local and parameter memory have windows of addresses below the addresses of all
//! allocations (PTX ISA 5.1, "Generic addressing").

use super::code::Room;

// The low 32 bits of these bases are not valid addresses in any space, so a generic address that was truncated to 32
// bits faults.
const SHARED: u64 = 0x0100_0100_0000;
const LOCAL: u64 = 0x0200_0200_0000;
const PARAM: u64 = 0x0300_0300_0000;
const WINDOW: u64 = 1 << 32;

/// The generic address of the first byte of a space.
pub(super) fn base(room: Room) -> u64 {
    match room {
        Room::Shared => SHARED,
        Room::Local => LOCAL,
        Room::Param => PARAM,
        Room::Generic | Room::Global => 0,
    }
}

/// The space that contains a generic address, and the address in that space.
#[inline(always)]
pub(super) fn resolve(address: u64) -> (Room, u64) {
    for room in [Room::Shared, Room::Local, Room::Param] {
        if address.wrapping_sub(base(room)) < WINDOW {
            return (room, address - base(room));
        }
    }
    (Room::Global, address)
}
