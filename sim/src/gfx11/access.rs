//! Accesses to global, flat and private memory, and loads by the scalar unit.
//!
//! AMD, "RDNA3 Instruction Set Architecture", chapters 8 (scalar memory) and 11 (flat memory), and LLVM, "User Guide
//! for AMDGPU Backend", "Address Spaces". Accesses to global memory may be unaligned, because HSA runs gfx11 in the
//! unaligned mode.

use std::sync::atomic::Ordering;

use super::atomic;
use super::isa::instruction::{Flat, ScalarLoad, Segment};
use super::isa::memory::Access;
use super::isa::operand::{NULL, PRIVATE_APERTURE, SHARED_APERTURE};
use super::lane_data::{data, deliver, deliver_old, lanes_of, operands};
use super::lds::ShareFault;
use super::lds_trace::Who;
use super::private;
use super::space::{self, Space};
use super::trouble::{Shared, Trouble};
use super::wave::Wave;
use crate::lanes::{each, over};
use crate::{FaultKind, Region};

pub(super) use super::share::share;

/// Loads words for the scalar unit.
pub(super) fn scalar_load(
    w: &mut Wave,
    shared: &mut Shared<'_>,
    one: &ScalarLoad,
) -> Result<(), Trouble> {
    let register = one.register.map_or(0, |register| w.s32(register));
    let base = w
        .s64(one.base)
        .wrapping_add_signed(one.offset.into())
        .wrapping_add(register.into())
        & !3;
    let bytes = u32::from(one.words) * 4;
    let (region, offset) = shared.space.find(base, bytes)?;
    for i in 0..one.words {
        let value = region.load_u32(offset + 4 * usize::from(i));
        if one.dst != NULL {
            w.put_s32(one.dst + i, value);
        }
    }
    Ok(())
}

/// The address that each lane accesses.
pub(super) fn addresses(w: &Wave, one: &Flat) -> [u64; 32] {
    let offset = i64::from(one.offset);
    match (one.address, one.base) {
        (Some(register), Some(base)) => {
            let base = w.s64(base).wrapping_add_signed(offset);
            over(&w.vector[usize::from(register)], |low| {
                base.wrapping_add(low.into())
            })
        }
        (Some(register), None) => {
            let low = &w.vector[usize::from(register)];
            let high = &w.vector[usize::from(register.wrapping_add(1))];
            each(|lane| {
                (u64::from(low[lane]) | u64::from(high[lane]) << 32).wrapping_add_signed(offset)
            })
        }
        (None, base) => {
            [base.map_or(0, |base| w.s64(base))
                .wrapping_add_signed(offset); 32]
        }
    }
}

/// Executes a flat, global or scratch instruction.
pub(super) fn flat(
    w: &mut Wave,
    shared: &mut Shared<'_>,
    one: &Flat,
    who: Who,
) -> Result<(), Trouble> {
    let exec = w.exec();
    if exec == 0 {
        return Ok(());
    }
    if one.segment == Segment::Scratch {
        shared.traffic().private_requests += 1;
        return private::scratch(w, one);
    }
    if matches!(one.op.access, Access::Atomic { .. }) {
        shared.lds.note_atomic(who.wave);
    }
    let addresses = addresses(w, one);
    if one.segment == Segment::Flat {
        let apertures = lanes_of(exec).any(|lane| is_aperture(addresses[lane]));
        if apertures {
            count_generic(shared, one.op.access, &addresses, exec);
            return lanes_of(exec)
                .try_for_each(|lane| flat_lane(w, shared, one, lane, addresses[lane], who));
        }
    }
    count_sectors(shared, one.op.access, &addresses, exec);
    global(w, &shared.space, one, &addresses, exec)
}

fn is_aperture(address: u64) -> bool {
    let high = (address >> 32) as u32;
    high == SHARED_APERTURE || high == PRIVATE_APERTURE
}

/// Executes the flat access of one lane, in the memory that contains its address.
fn flat_lane(
    w: &mut Wave,
    shared: &mut Shared<'_>,
    one: &Flat,
    lane: usize,
    address: u64,
    who: Who,
) -> Result<(), Trouble> {
    match (address >> 32) as u32 {
        SHARED_APERTURE => {
            let access = super::share::Lane {
                access: one.op.access,
                dst: one.dst,
                returns: one.returns,
            };
            let registers = [one.data, one.data.wrapping_add(registers(one.op.access))];
            let done = super::share::lane(
                w,
                shared,
                &access,
                registers,
                lane,
                address & 0xffff_ffff,
                who,
            );
            done.map_err(|fault: ShareFault| Trouble {
                fault,
                lane: Some(lane as u32),
            })
        }
        PRIVATE_APERTURE => private::lane(w, one, lane, address & 0xffff_ffff),
        _ => {
            let mut addresses = [0; 32];
            addresses[lane] = address;
            global(w, &shared.space, one, &addresses, 1 << lane)
        }
    }
}

/// The number of registers of one operand.
fn registers(access: Access) -> u8 {
    match access {
        Access::Load { bytes, .. } | Access::Store { bytes, .. } | Access::Atomic { bytes, .. } => {
            bytes.div_ceil(4)
        }
    }
}

/// Counts the 32-byte sectors that the active lanes touch together.
fn count_sectors(shared: &mut Shared<'_>, access: Access, addresses: &[u64; 32], exec: u32) {
    let bytes = super::share::width(access);
    let traffic = &mut shared.counters.traffic;
    let at = shared.at as usize;
    let requests = &mut shared.requests;
    requests.count(traffic, at, addresses, exec, bytes.into());
}

/// Counts one request for each kind of memory (shared, private, global) that the lanes access through generic
/// addresses.
fn count_generic(shared: &mut Shared<'_>, access: Access, addresses: &[u64; 32], exec: u32) {
    let lanes_in = |aperture: u32| -> u32 {
        let there = lanes_of(exec).filter(|&lane| (addresses[lane] >> 32) as u32 == aperture);
        there.map(|lane| 1 << lane).sum()
    };
    let (of_block, private) = (lanes_in(SHARED_APERTURE), lanes_in(PRIVATE_APERTURE));
    if of_block != 0 {
        let offsets = addresses.map(|address| address as u32);
        super::share::count(shared, &offsets, of_block, super::share::width(access));
    }
    if private != 0 {
        shared.traffic().private_requests += 1;
    }
    let global = exec & !of_block & !private;
    if global != 0 {
        count_sectors(shared, access, addresses, global);
    }
}

/// The region that contains the address of the previous lane. The address of the next lane is usually in the same
/// region.
struct Recent<'a>(Option<&'a Region>);

impl<'a> Recent<'a> {
    #[inline]
    fn find(
        &mut self,
        address: u64,
        bytes: u32,
        find: impl FnOnce() -> Result<(&'a Region, usize), FaultKind>,
    ) -> Result<(&'a Region, usize), FaultKind> {
        if let Some(region) = self.0
            && region.holds(address, bytes)
        {
            return Ok((region, (address - region.base()) as usize));
        }
        let found = find()?;
        self.0 = Some(found.0);
        Ok(found)
    }
}

/// Loads or stores words for all lanes at once, if they are in one allocation outside the image. Returns `false` if the
/// lanes must be handled one by one.
fn whole(w: &mut Wave, space: &Space<'_>, one: &Flat, at: &[u64; 32], exec: u32) -> bool {
    let (bytes, loads) = match one.op.access {
        Access::Load { bytes, .. } => (bytes, true),
        Access::Store { bytes, .. } => (bytes, false),
        Access::Atomic { .. } => return false,
    };
    let first = at[exec.trailing_zeros() as usize % 32];
    let Some((region, _)) = space.view.find(first, bytes.into()).ok() else {
        return false;
    };
    let image = space.is_in_image(region);
    let Some(offsets) = region.offsets(at, bytes.into(), exec, 4) else {
        return false;
    };
    if !bytes.is_multiple_of(4) || image {
        return false;
    }
    let words = region.words();
    let count = usize::from(bytes / 4);
    if loads {
        for i in 0..count {
            // Inactive lanes have the offset 0. They load a valid word, which `put` ignores.
            let value = each(|lane| words[offsets[lane] / 4 + i].load(Ordering::Relaxed));
            w.put(one.dst.wrapping_add(i as u8), &value, exec);
        }
        return true;
    }
    for lane in lanes_of(exec) {
        for (i, word) in words[offsets[lane] / 4..][..count].iter().enumerate() {
            let value = w.vector[usize::from(one.data.wrapping_add(i as u8))][lane];
            word.store(value, Ordering::Relaxed);
        }
    }
    true
}

/// Accesses global memory.
fn global(
    w: &mut Wave,
    space: &Space<'_>,
    one: &Flat,
    addresses: &[u64; 32],
    exec: u32,
) -> Result<(), Trouble> {
    if whole(w, space, one, addresses, exec) {
        return Ok(());
    }
    let mut recent = Recent(None);
    match one.op.access {
        Access::Load { bytes, .. } => {
            for lane in lanes_of(exec) {
                let (address, bytes) = (addresses[lane], u32::from(bytes));
                let found = recent.find(address, bytes, || space.find(address, bytes));
                let (region, offset) = found.map_err(|kind| Trouble::of(kind, lane))?;
                let value = space::load(region, offset, bytes);
                deliver(w, one.dst, lane, &value, one.op.access);
            }
        }
        Access::Store { bytes, part } => {
            for lane in lanes_of(exec) {
                let value = data(w, one.data, lane, bytes, part);
                let address = addresses[lane];
                // For stores, the image is never kept as the recent region, because its read-only parts must be checked
                // each time.
                let found = match space.is_image(address) {
                    true => space.find_to_write(address, bytes.into()),
                    false => recent.find(address, bytes.into(), || {
                        space.find_to_write(address, bytes.into())
                    }),
                };
                let (region, offset) = found.map_err(|kind| Trouble::of(kind, lane))?;
                space::store(region, offset, bytes.into(), &value);
            }
        }
        Access::Atomic { op, bytes } => {
            for lane in lanes_of(exec) {
                let address = addresses[lane];
                if !address.is_multiple_of(bytes.into()) {
                    return Err(Trouble::of(
                        FaultKind::Misaligned {
                            address,
                            bytes: bytes.into(),
                        },
                        lane,
                    ));
                }
                let found = space.find_to_write(address, bytes.into());
                let (region, offset) = found.map_err(|kind| Trouble::of(kind, lane))?;
                let data = operands(w, [one.data, one.data.wrapping_add(bytes / 4)], lane, bytes);
                let old = space::update(region, offset, bytes.into(), |old| {
                    atomic::apply(op, bytes, old, data)
                });
                if one.returns {
                    deliver_old(w, one.dst, lane, bytes, old);
                }
            }
        }
    }
    Ok(())
}
