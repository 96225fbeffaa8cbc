//! Loads and stores, lane by lane.

use crate::lanes::over;
use std::sync::Mutex;

use super::{count, whole};
use crate::ptx::cells::{Intent, Who};
use crate::ptx::code::{Access, Address, File, Room};
use crate::ptx::regs::{LANES, Regs, lanes};
use crate::ptx::shared::{Shared, Wrong};
use crate::ptx::space::resolve;
use crate::ptx::warp::Warp;
use crate::{Counters, FaultKind, MemoryView, Region, Traffic};

/// A fault before its place is known.
#[derive(Debug)]
pub(super) struct Trouble {
    pub wrong: Wrong,
    pub lane: Option<u32>,
}

impl From<FaultKind> for Trouble {
    fn from(kind: FaultKind) -> Trouble {
        Trouble {
            wrong: Wrong::Kind(kind),
            lane: None,
        }
    }
}

/// What an instruction sees besides its warp.
pub(super) struct Surroundings<'a> {
    pub memory: &'a MemoryView,
    pub shared: &'a mut Shared,
    pub counters: &'a mut Counters,
    pub parameters: &'a [u8],
    pub local_bytes: usize,
    /// Held by atomic operations on 8 bytes, and on 2.
    pub lock: &'a Mutex<()>,
    pub warp: u8,
    pub group: u32,
    pub pc: u32,
}

impl<'a> Surroundings<'a> {
    /// What the current instruction moved so far.
    pub fn traffic(&mut self) -> &mut Traffic {
        &mut self.counters.traffic[self.pc as usize]
    }

    pub fn who(&self, lane: usize) -> Who {
        Who {
            warp: self.warp,
            lane: lane as u8,
            group: self.group,
            pc: self.pc,
        }
    }
}

pub(super) fn at_lane(lane: usize) -> impl Fn(Wrong) -> Trouble {
    move |wrong| Trouble {
        wrong,
        lane: Some(lane as u32),
    }
}

pub(super) fn kind_at(lane: usize) -> impl Fn(FaultKind) -> Trouble {
    move |kind| at_lane(lane)(Wrong::Kind(kind))
}

/// The addresses of all lanes.
pub(super) fn addresses(regs: &Regs, address: &Address) -> [u64; LANES] {
    let index = address.base.index as usize;
    match address.base.file {
        File::Long => over(&regs.longs[index], |base| {
            base.wrapping_add(address.offset as u64)
        }),
        _ => over(&regs.words[index], |base| {
            u64::from(base.wrapping_add(address.offset as u32))
        }),
    }
}

/// Whether all lanes of a generic access are in global memory; then it is one.
pub(super) fn room(address: &Address, at: &[u64; LANES], mask: u32) -> Room {
    match address.room {
        Room::Generic if lanes(mask).all(|lane| resolve(at[lane]).0 == Room::Global) => {
            Room::Global
        }
        room => room,
    }
}

pub(super) fn aligned(address: u64, bytes: u32, lane: usize) -> Result<(), Trouble> {
    match address & u64::from(bytes - 1) == 0 {
        true => Ok(()),
        false => Err(kind_at(lane)(FaultKind::Misaligned { address, bytes })),
    }
}

/// Finds the allocation, most often the one of the lane before.
#[inline(always)]
pub(super) fn region<'m>(
    memory: &'m MemoryView,
    last: &mut Option<&'m Region>,
    address: u64,
    bytes: u32,
    lane: usize,
) -> Result<(&'m Region, usize), Trouble> {
    if let Some(region) = last
        && region.holds(address, bytes)
    {
        return Ok((region, (address - region.base()) as usize));
    }
    let (region, offset) = memory.find(address, bytes).map_err(kind_at(lane))?;
    *last = Some(region);
    Ok((region, offset))
}

pub(super) fn read(region: &Region, offset: usize, bytes: u32) -> u64 {
    match bytes {
        1 => region.load_u8(offset).into(),
        2 => region.load_u16(offset).into(),
        4 => region.load_u32(offset).into(),
        _ => u64::from(region.load_u32(offset)) | u64::from(region.load_u32(offset + 4)) << 32,
    }
}

pub(super) fn write(region: &Region, offset: usize, bytes: u32, value: u64) {
    match bytes {
        1 => region.store_u8(offset, value as u8),
        2 => region.store_u16(offset, value as u16),
        4 => region.store_u32(offset, value as u32),
        _ => {
            region.store_u32(offset, value as u32);
            region.store_u32(offset + 4, (value >> 32) as u32);
        }
    }
}

pub(super) fn extended(value: u64, access: &Access) -> u64 {
    match access.signed {
        true => {
            let unused = 64 - 8 * access.bytes;
            ((value << unused) as i64 >> unused) as u64
        }
        false => value,
    }
}

pub(super) fn set(regs: &mut Regs, reg: crate::ptx::code::Reg, lane: usize, value: u64) {
    match reg.file {
        File::Long => regs.longs[reg.index as usize][lane] = value,
        _ => regs.words[reg.index as usize][lane] = value as u32,
    }
}

pub(super) fn get(regs: &Regs, reg: crate::ptx::code::Reg, lane: usize) -> u64 {
    match reg.file {
        File::Long => regs.longs[reg.index as usize][lane],
        _ => regs.words[reg.index as usize][lane].into(),
    }
}

fn count_access(s: &mut Surroundings, room: Room, at: &[u64; LANES], mask: u32, bytes: u32) {
    match room {
        Room::Global => s.traffic().global(at, mask, bytes),
        Room::Shared => count::shared(s.traffic(), at, mask, bytes),
        Room::Local => s.traffic().private_requests += 1,
        _ => {}
    }
}

/// A load.
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
                s.shared
                    .check(address, bytes, intent, who)
                    .map_err(at_lane(lane))?
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

/// A store.
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
