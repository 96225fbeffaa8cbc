//! Generic addresses: windows for shared, local and parameter memory below every allocation (PTX ISA 5.1, "Generic
//! addressing").

use super::code::Room;

// The low halves differ from the addresses in the spaces, so that a generic address without its high half names nothing.
const SHARED: u64 = 0x0100_0100_0000;
const LOCAL: u64 = 0x0200_0200_0000;
const PARAM: u64 = 0x0300_0300_0000;
const WINDOW: u64 = 1 << 32;

/// The generic address of a space's first byte.
pub(super) fn base(room: Room) -> u64 {
    match room {
        Room::Shared => SHARED,
        Room::Local => LOCAL,
        Room::Param => PARAM,
        Room::Generic | Room::Global => 0,
    }
}

/// The space that a generic address is in, and the address there.
#[inline(always)]
pub(super) fn resolve(address: u64) -> (Room, u64) {
    for room in [Room::Shared, Room::Local, Room::Param] {
        if address.wrapping_sub(base(room)) < WINDOW {
            return (room, address - base(room));
        }
    }
    (Room::Global, address)
}
