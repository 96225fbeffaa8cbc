//! Instructions that access single lanes, or registers by index.
//!
//! AMD, "RDNA3 Instruction Set Architecture": `V_READLANE_B32`, `V_WRITELANE_B32`, `V_READFIRSTLANE_B32`,
//! `V_PERMLANE16_B32`, `V_PERMLANEX16_B32`, `V_MOVREL*`, `V_SWAP_B32`.

use super::Handler;
use crate::gfx11::isa::instruction::Vector;
use crate::gfx11::isa::operand::Src;
use crate::gfx11::isa::vector::VectorOp;
use crate::gfx11::wave::Wave;
use crate::lanes::each;

/// The register `m0` positions after another register.
fn relative(register: u8, m0: u32) -> u8 {
    register.wrapping_add(m0 as u8)
}

fn source_register(src: Src) -> Option<u8> {
    match src {
        Src::Vector(register) => Some(register),
        _ => None,
    }
}

/// Each lane reads a lane of its own row of 16 lanes, or (if `across` is 16) of the other row. Four selector bits
/// specify the lane in that row.
fn permlane(w: &mut Wave, i: &Vector, across: usize) {
    let value = w.lanes(i.src[0]);
    let select = u64::from(w.scalar32(i.src[1])) | u64::from(w.scalar32(i.src[2])) << 32;
    let exec = w.exec();
    let (fetch_inactive, bound_zero) = (i.mods.high & 1 != 0, i.mods.high & 2 != 0);
    let old = w.vector[usize::from(i.dst)];
    let result = each(|lane| {
        let from = (lane & 16 ^ across) + (select >> (4 * (lane & 15)) & 15) as usize;
        match fetch_inactive || exec >> from & 1 != 0 {
            true => value[from],
            false if bound_zero => 0,
            false => old[lane],
        }
    });
    w.put(i.dst, &result, exec);
}

/// The function that executes an instruction, or `None` if this file does not implement the instruction.
pub(super) fn handler(op: VectorOp) -> Option<Handler> {
    use VectorOp::*;
    Some(match op {
        Nop | PipeFlush => |_, _| {},
        ReadfirstlaneB32 => |w, i| {
            let value = w.scalar32(i.src[0]);
            w.put_s32(i.dst, value);
        },
        ReadlaneB32 => |w, i| {
            let lane = w.scalar32(i.src[1]) as usize & 31;
            let value = w.lanes(i.src[0])[lane];
            w.put_s32(i.dst, value);
        },
        WritelaneB32 => |w, i| {
            let lane = w.scalar32(i.src[1]) as usize & 31;
            let value = w.scalar32(i.src[0]);
            w.vector[usize::from(i.dst)][lane] = value;
        },
        Permlane16B32 => |w, i| permlane(w, i, 0),
        Permlanex16B32 => |w, i| permlane(w, i, 16),
        MovreldB32 => |w, i| {
            let (value, mask) = (w.b32(i, 0), w.mask(i));
            w.put(relative(i.dst, w.m0()), &value, mask);
        },
        MovrelsB32 => |w, i| {
            let register = source_register(i.src[0]).unwrap_or(0);
            let value = w.vector[usize::from(relative(register, w.m0()))];
            w.set_b32(i, &value);
        },
        MovrelsdB32 => |w, i| {
            let register = source_register(i.src[0]).unwrap_or(0);
            let value = w.vector[usize::from(relative(register, w.m0()))];
            let mask = w.mask(i);
            w.put(relative(i.dst, w.m0()), &value, mask);
        },
        SwapB32 => |w, i| {
            let register = source_register(i.src[0]).unwrap_or(0);
            let (value, old, mask) = (w.b32(i, 0), w.vector[usize::from(i.dst)], w.mask(i));
            w.put(i.dst, &value, mask);
            w.put(register, &old, mask);
        },
        _ => return None,
    })
}
