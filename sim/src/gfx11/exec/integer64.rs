//! Arithmetic on 64-bit integers.
//!
//! AMD, "RDNA3 Instruction Set Architecture", the pseudo-code of each instruction in VOP3.

use super::Handler;
use crate::gfx11::isa::instruction::Vector;
use crate::gfx11::isa::vector::VectorOp;
use crate::gfx11::wave::Wave;
use crate::lanes::each;

/// A shift by the lowest six bits of the first source.
#[inline(always)]
fn shift(w: &mut Wave, i: &Vector, f: impl Fn(u32, u64) -> u64) {
    let (a, b) = (w.b32(i, 0), w.b64(i, 1));
    let value = each(|lane| f(a[lane] & 63, b[lane]));
    w.set_b64(i, &value);
}

/// The sum of a 32-bit product and a 64-bit addend, and the carry of each lane.
#[inline(always)]
fn mad(w: &mut Wave, i: &Vector, f: impl Fn(u32, u32, u64) -> (u64, bool)) {
    let (a, b, c) = (w.b32(i, 0), w.b32(i, 1), w.b64(i, 2));
    let mut value = [0; 32];
    let mut carries = 0;
    for lane in 0..32 {
        let (sum, carry) = f(a[lane], b[lane], c[lane]);
        value[lane] = sum;
        carries |= u32::from(carry) << lane;
    }
    w.set_b64(i, &value);
    w.set_mask(i.sdst, carries);
}

/// The function that executes an instruction, or `None` if this file does not implement the instruction.
pub(super) fn handler(op: VectorOp) -> Option<Handler> {
    use VectorOp::*;
    Some(match op {
        LshlrevB64 => |w, i| shift(w, i, |a, b| b << a),
        LshrrevB64 => |w, i| shift(w, i, |a, b| b >> a),
        AshrrevI64 => |w, i| shift(w, i, |a, b| (b as i64 >> a) as u64),
        MadU64U32 => |w, i| {
            mad(w, i, |a, b, c| {
                (u64::from(a) * u64::from(b)).overflowing_add(c)
            })
        },
        MadI64I32 => |w, i| {
            mad(w, i, |a, b, c| {
                let product = i64::from(a as i32) * i64::from(b as i32);
                let (sum, overflow) = product.overflowing_add(c as i64);
                (sum as u64, overflow)
            });
        },
        _ => return None,
    })
}
