//! Helpers for memory accesses: addresses per lane, alignment, state spaces, faults.

use std::sync::Mutex;

use crate::lanes::over;
use crate::ptx::cells::Who;
use crate::ptx::code::{Access, Address, File, Reg, Room};
use crate::ptx::regs::{LANES, Regs, lanes};
use crate::ptx::shared::{Shared, Wrong};
use crate::ptx::space::resolve;
use crate::traffic::Requests;
use crate::{Counters, FaultKind, MemoryView, Region, Traffic};

/// A fault whose position is not known yet.
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

/// The state that an instruction uses, except its warp.
pub(super) struct Surroundings<'a> {
    pub memory: &'a MemoryView,
    pub shared: &'a mut Shared,
    pub counters: &'a mut Counters,
    pub requests: &'a mut Requests,
    pub parameters: &'a [u8],
    pub local_bytes: usize,
    /// A lock for atomic operations on 8 bytes or 2 bytes.
    pub lock: &'a Mutex<()>,
    pub warp: u8,
    pub group: u32,
    pub pc: u32,
}

impl<'a> Surroundings<'a> {
    /// The traffic counters of the current instruction.
    pub fn traffic(&mut self) -> &mut Traffic {
        &mut self.counters.traffic[self.pc as usize]
    }

    /// Counts a request to global memory.
    #[inline(always)]
    pub fn count_global(&mut self, at: &[u64; LANES], mask: u32, bytes: u32) {
        let traffic = &mut self.counters.traffic;
        self.requests
            .count(traffic, self.pc as usize, at, mask, bytes);
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

/// The addresses that the lanes access.
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

/// The state space of an access. A generic access whose addresses are all in global memory is a global access.
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

/// The allocation that contains an access, and the offset of the access in it. `last` is the allocation of the previous
/// lane, which is tried first.
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

pub(super) fn set(regs: &mut Regs, reg: Reg, lane: usize, value: u64) {
    match reg.file {
        File::Long => regs.longs[reg.index as usize][lane] = value,
        _ => regs.words[reg.index as usize][lane] = value as u32,
    }
}

pub(super) fn get(regs: &Regs, reg: Reg, lane: usize) -> u64 {
    match reg.file {
        File::Long => regs.longs[reg.index as usize][lane],
        _ => regs.words[reg.index as usize][lane].into(),
    }
}
