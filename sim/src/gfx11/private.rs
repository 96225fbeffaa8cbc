//! Private memory. Each lane has its own bytes.
//!
//! AMD, "RDNA3 Instruction Set Architecture", section 11.2 (scratch addresses).

use super::atomic;
use super::isa::instruction::Flat;
use super::isa::memory::Access;
use super::lane_data::{data, deliver, deliver_old, lanes_of, operands};
use super::trouble::Trouble;
use super::wave::Wave;
use crate::FaultKind;

fn base(w: &Wave, one: &Flat) -> u32 {
    let register = one.base.map_or(0, |base| w.s32(base));
    register.wrapping_add_signed(one.offset)
}

/// The offsets that a scratch instruction accesses in the private memories of the lanes.
pub(super) fn addresses(w: &Wave, one: &Flat) -> [u32; 32] {
    let base = base(w, one);
    match one.address {
        Some(register) => w.vector[usize::from(register)].map(|address| address.wrapping_add(base)),
        None => [base; 32],
    }
}

/// Executes a scratch instruction.
pub(super) fn scratch(w: &mut Wave, one: &Flat) -> Result<(), Trouble> {
    let (base, addresses) = (base(w, one), addresses(w, one));
    let exec = w.exec();
    if one.address.is_none() && base.is_multiple_of(4) && rows(w, one, base, exec) {
        return Ok(());
    }
    lanes_of(exec).try_for_each(|number| lane(w, one, number, addresses[number].into()))
}

/// Loads or stores whole words at the same offset of all lanes. Returns `false` for other accesses.
fn rows(w: &mut Wave, one: &Flat, base: u32, exec: u32) -> bool {
    let (bytes, is_load) = match one.op.access {
        Access::Load { bytes, .. } if bytes >= 4 => (bytes, true),
        Access::Store { bytes, .. } if bytes >= 4 => (bytes, false),
        _ => return false,
    };
    let (first, count) = (base as usize / 4, usize::from(bytes / 4));
    if first + count > w.scratch.len() {
        return false;
    }
    for i in 0..count {
        match is_load {
            true => {
                let row = w.scratch[first + i];
                w.put(one.dst.wrapping_add(i as u8), &row, exec);
            }
            false => {
                let row = w.vector[usize::from(one.data.wrapping_add(i as u8))];
                super::wave::merge(&mut w.scratch[first + i], &row, exec);
            }
        }
    }
    true
}

/// Accesses the private memory of one lane.
pub(super) fn lane(w: &mut Wave, one: &Flat, lane: usize, address: u64) -> Result<(), Trouble> {
    let bytes = match one.op.access {
        Access::Load { bytes, .. } | Access::Store { bytes, .. } | Access::Atomic { bytes, .. } => {
            bytes
        }
    };
    let size = w.scratch.len() as u64 * 4;
    if address + u64::from(bytes) > size {
        let what =
            format!("{bytes} bytes at {address:#x} are outside the {size} bytes of private memory");
        return Err(Trouble::of(FaultKind::Invalid { what }, lane));
    }
    let at = address as usize;
    match one.op.access {
        Access::Load { bytes, .. } => {
            let value = load(w, lane, at, bytes);
            deliver(w, one.dst, lane, &value, one.op.access);
        }
        Access::Store { bytes, part } => {
            let value = data(w, one.data, lane, bytes, part);
            store(w, lane, at, bytes, &value);
        }
        Access::Atomic { op, bytes } => {
            let words = load(w, lane, at, bytes);
            let old = u64::from(words[0]) | u64::from(words[1]) << 32;
            let data = operands(w, [one.data, one.data.wrapping_add(bytes / 4)], lane, bytes);
            let new = atomic::apply(op, bytes, old, data);
            store(w, lane, at, bytes, &[new as u32, (new >> 32) as u32, 0, 0]);
            if one.returns {
                deliver_old(w, one.dst, lane, bytes, old);
            }
        }
    }
    Ok(())
}

fn load(w: &Wave, lane: usize, at: usize, bytes: u8) -> [u32; 4] {
    let mut value = [0; 4];
    for i in 0..usize::from(bytes) {
        let byte = w.scratch[(at + i) / 4][lane] >> ((at + i) % 4 * 8) & 0xff;
        value[i / 4] |= byte << (i % 4 * 8);
    }
    value
}

fn store(w: &mut Wave, lane: usize, at: usize, bytes: u8, value: &[u32; 4]) {
    for i in 0..usize::from(bytes) {
        let (word, shift) = ((at + i) / 4, (at + i) % 4 * 8);
        let byte = value[i / 4] >> (i % 4 * 8) & 0xff;
        let old = &mut w.scratch[word][lane];
        *old = *old & !(0xff << shift) | byte << shift;
    }
}
