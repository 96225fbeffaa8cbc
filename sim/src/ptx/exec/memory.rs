//! Loads and stores, lane by lane.

use super::access::{
    Surroundings, Trouble, addresses, aligned, at_lane, extended, get, kind_at, read, region, room,
    set, write,
};
use super::{count, whole};
use crate::FaultKind;
use crate::ptx::cells::Intent;
use crate::ptx::code::{Access, Room};
use crate::ptx::regs::{LANES, lanes};
use crate::ptx::space::resolve;
use crate::ptx::warp::Warp;

/// Counts an access to global or private memory. Accesses to shared memory are counted where they are checked. A
/// generic access is counted here, as one request for each kind of memory that its lanes access.
fn count_access(s: &mut Surroundings, room: Room, at: &[u64; LANES], mask: u32, bytes: u32) {
    match room {
        Room::Global => s.count_global(at, mask, bytes),
        Room::Local => s.traffic().private_requests += 1,
        Room::Generic => {
            let lanes_in = |room| -> u32 {
                let there = lanes(mask).filter(|&lane| resolve(at[lane]).0 == room);
                there.map(|lane| 1 << lane).sum()
            };
            let global = lanes_in(Room::Global);
            if global != 0 {
                s.count_global(at, global, bytes);
            }
            let shared = lanes_in(Room::Shared);
            if shared != 0 {
                let offsets = at.map(|address| resolve(address).1);
                count::shared(s.traffic(), &offsets, shared, bytes);
            }
            s.traffic().private_requests += u64::from(lanes_in(Room::Local) != 0);
        }
        _ => {}
    }
}

/// Executes a load.
pub(super) fn load(
    s: &mut Surroundings,
    w: &mut Warp,
    access: &Access,
    mask: u32,
) -> Result<(), Trouble> {
    let at = addresses(&w.regs, &access.address);
    let room = room(&access.address, &at, mask);
    let bytes = access.bytes * access.regs.len() as u32;
    count_access(s, room, &at, mask, bytes);
    if room == Room::Shared {
        return whole::load_shared(s, w, access, &at, mask);
    }
    if room == Room::Global && !access.strong && whole::load_global(s, w, access, &at, mask) {
        return Ok(());
    }
    let mut last = None;
    for lane in lanes(mask) {
        let (room, address) = if room == Room::Generic {
            resolve(at[lane])
        } else {
            (room, at[lane])
        };
        aligned(address, bytes, lane)?;
        let start = match room {
            Room::Shared => {
                let intent = if access.strong {
                    Intent::StrongRead
                } else {
                    Intent::Read
                };
                let who = s.who(lane);
                let checked = s.shared.check_load(address, bytes, intent, who);
                let (start, missing) = checked.map_err(at_lane(lane))?;
                if let Some(missing) = &missing {
                    w.mark_loaded(access, lane, missing);
                }
                start
            }
            Room::Local => inside(address, bytes, s.local_bytes, lane)? + lane * s.local_bytes,
            Room::Param => inside(address, bytes, s.parameters.len(), lane)?,
            _ => {
                let (region, offset) = region(s.memory, &mut last, address, bytes, lane)?;
                if access.strong {
                    s.shared.synchronise(address, s.warp);
                }
                for (i, &reg) in access.regs.iter().enumerate() {
                    let value = read(region, offset + i * access.bytes as usize, access.bytes);
                    set(&mut w.regs, reg, lane, extended(value, access));
                }
                continue;
            }
        };
        for (i, &reg) in access.regs.iter().enumerate() {
            let from = start + i * access.bytes as usize;
            let value = match room {
                Room::Shared => s.shared.load(from, access.bytes),
                Room::Local => little(&w.local[from..from + access.bytes as usize]),
                _ => little(&s.parameters[from..from + access.bytes as usize]),
            };
            set(&mut w.regs, reg, lane, extended(value, access));
        }
    }
    Ok(())
}

fn little(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |value, &byte| value << 8 | u64::from(byte))
}

fn inside(address: u64, bytes: u32, size: usize, lane: usize) -> Result<usize, Trouble> {
    match address
        .checked_add(u64::from(bytes))
        .is_some_and(|end| end <= size as u64)
    {
        true => Ok(address as usize),
        false => Err(kind_at(lane)(FaultKind::OutOfBounds {
            address,
            bytes,
            nearest: Some((0, size)),
        })),
    }
}

/// Executes a store.
pub(super) fn store(
    s: &mut Surroundings,
    w: &mut Warp,
    access: &Access,
    mask: u32,
) -> Result<(), Trouble> {
    let at = addresses(&w.regs, &access.address);
    let room = room(&access.address, &at, mask);
    let bytes = access.bytes * access.regs.len() as u32;
    count_access(s, room, &at, mask, bytes);
    if room == Room::Shared {
        return whole::store_shared(s, w, access, &at, mask);
    }
    if room == Room::Global && !access.strong && whole::store_global(s, w, access, &at, mask) {
        return Ok(());
    }
    let mut last = None;
    for lane in lanes(mask) {
        let (room, address) = if room == Room::Generic {
            resolve(at[lane])
        } else {
            (room, at[lane])
        };
        aligned(address, bytes, lane)?;
        let values = access.regs.iter().map(|&reg| get(&w.regs, reg, lane));
        match room {
            Room::Shared => {
                let intent = if access.strong {
                    Intent::StrongWrite
                } else {
                    Intent::Write
                };
                let who = s.who(lane);
                let start = s
                    .shared
                    .check(address, bytes, intent, who)
                    .map_err(at_lane(lane))?;
                for (i, value) in values.enumerate() {
                    s.shared
                        .store(start + i * access.bytes as usize, access.bytes, value);
                }
            }
            Room::Local => {
                let start = inside(address, bytes, s.local_bytes, lane)? + lane * s.local_bytes;
                for (i, value) in values.enumerate() {
                    let from = start + i * access.bytes as usize;
                    let size = access.bytes as usize;
                    w.local[from..from + size].copy_from_slice(&value.to_le_bytes()[..size]);
                }
            }
            Room::Param => return Err(kind_at(lane)(FaultKind::ReadOnly { address, bytes })),
            _ => {
                let (region, offset) = region(s.memory, &mut last, address, bytes, lane)?;
                for (i, value) in values.enumerate() {
                    write(
                        region,
                        offset + i * access.bytes as usize,
                        access.bytes,
                        value,
                    );
                }
                if access.strong {
                    s.shared.synchronise(address, s.warp);
                }
            }
        }
    }
    Ok(())
}
