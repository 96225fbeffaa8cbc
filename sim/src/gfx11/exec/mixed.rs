//! Products and sums that mix 16-bit and 32-bit floats.
//!
//! AMD, "RDNA3 Instruction Set Architecture": `V_FMA_MIX_F32`, `V_FMA_MIXLO_F16`, `V_FMA_MIXHI_F16`, `V_DOT2_F32_F16`,
//! `V_DOT2_F32_BF16`. In the first three instructions, `op_sel_hi` marks the sources that have 16 bits, `op_sel`
//! selects their half, and `neg_hi` takes the absolute value.

use half::f16;

use super::convert::f16_bits;
use super::packed_operands::{limit, set, source};
use crate::fused::fma32;
use crate::gfx11::isa::instruction::Packed;
use crate::gfx11::isa::operand::Src;
use crate::gfx11::isa::packed::PackedOp;
use crate::gfx11::wave::{Lanes, Wave};
use crate::lanes::{each, over};

fn operand(w: &Wave, one: &Packed, n: usize) -> Lanes {
    let value = source(w, one, n);
    let narrow = one.select_high >> n & 1 != 0;
    let high = one.select_low >> n & 1 != 0 && !matches!(one.src[n], Src::Constant(_));
    let clear = u32::from(one.neg_high >> n & 1 != 0) << 31;
    let flip = u32::from(one.neg_low >> n & 1 != 0) << 31;
    over(&value, |bits| {
        let bits = match (narrow, high) {
            (true, true) => f16::from_bits((bits >> 16) as u16).to_f32().to_bits(),
            (true, false) => f16::from_bits(bits as u16).to_f32().to_bits(),
            (false, _) => bits,
        };
        bits & !clear ^ flip
    })
}

/// Executes a mixed-precision fused multiply-add.
pub(super) fn mixed(w: &mut Wave, one: &Packed) {
    let mut sum = fma32(
        &operand(w, one, 0),
        &operand(w, one, 1),
        &operand(w, one, 2),
    );
    if one.clamp {
        let limit = limit(w, one);
        let clamped = |bits| (limit(f32::from_bits(bits).into()) as f32).to_bits();
        sum = over(&sum, clamped);
    }
    let old = w.vector[usize::from(one.dst)];
    let value = match one.op {
        PackedOp::FmaMixloF16 => {
            each(|lane| old[lane] & 0xffff_0000 | f16_bits(f32::from_bits(sum[lane])))
        }
        PackedOp::FmaMixhiF16 => {
            each(|lane| old[lane] & 0xffff | f16_bits(f32::from_bits(sum[lane])) << 16)
        }
        _ => sum,
    };
    set(w, one, &value);
}

/// Executes a dot product of two pairs, plus an addend.
pub(super) fn dot2(w: &mut Wave, one: &Packed) {
    let (a, b, c) = (source(w, one, 0), source(w, one, 1), source(w, one, 2));
    let is_f16 = one.op == PackedOp::Dot2F32F16;
    let half = |n: usize, bits: u32, select: u8, neg: u8| {
        let bits = if select >> n & 1 != 0 {
            bits >> 16
        } else {
            bits & 0xffff
        };
        let bits = bits ^ u32::from(neg >> n & 1) << 15;
        if is_f16 {
            f16::from_bits(bits as u16).to_f32()
        } else {
            f32::from_bits(bits << 16)
        }
    };
    let value = each(|lane| {
        let low = half(0, a[lane], one.select_low, one.neg_low)
            * half(1, b[lane], one.select_low, one.neg_low);
        let high = half(0, a[lane], one.select_high, one.neg_high)
            * half(1, b[lane], one.select_high, one.neg_high);
        let flip = u32::from(one.neg_low >> 2 & 1 != 0) << 31;
        (f32::from_bits(c[lane] ^ flip) + low + high).to_bits()
    });
    set(w, one, &value);
}
