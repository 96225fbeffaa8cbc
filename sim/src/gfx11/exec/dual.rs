//! VOPD: pairs of instructions that are executed at the same time.
//!
//! AMD, "RDNA3 Instruction Set Architecture", section 7.6 ("Dual Issue VALU"): both halves read their sources before
//! either half writes.

use half::f16;

use super::float32::{dx9_product, max, min};
use super::vector::map2;
use crate::fused::fma32;
use crate::gfx11::isa::instruction::{DualOp, Half};
use crate::gfx11::isa::operand::Src;
use crate::gfx11::wave::{Lanes, Wave, merge};
use crate::lanes::each;

#[inline(always)]
fn floats(a: &Lanes, b: &Lanes, f: impl Fn(f32, f32) -> f32) -> Lanes {
    map2(a, b, |a, b| {
        f(f32::from_bits(a), f32::from_bits(b)).to_bits()
    })
}

fn is_float(op: DualOp) -> bool {
    !matches!(
        op,
        DualOp::Mov | DualOp::Cndmask | DualOp::AddNc | DualOp::Lshlrev | DualOp::And
    )
}

fn flush(value: &mut Lanes) {
    for bits in value {
        *bits = if *bits & 0x7f80_0000 == 0 {
            *bits & 0x8000_0000
        } else {
            *bits
        };
    }
}

fn half(w: &Wave, one: &Half) -> Lanes {
    let scalar;
    let a = match one.a {
        Src::Vector(register) => &w.vector[usize::from(register)],
        other => {
            scalar = [w.scalar32(other); 32];
            &scalar
        }
    };
    let b = &w.vector[usize::from(one.b)];
    if w.mode.denormals & 3 == 3 || !is_float(one.op) {
        return result(w, one, a, b);
    }
    let (mut a, mut b) = (*a, *b);
    if w.mode.denormals & 1 == 0 {
        flush(&mut a);
        flush(&mut b);
    }
    let mut value = result(w, one, &a, &b);
    if w.mode.denormals & 2 == 0 {
        flush(&mut value);
    }
    value
}

#[inline(always)]
fn result(w: &Wave, one: &Half, a: &Lanes, b: &Lanes) -> Lanes {
    let c = &w.vector[usize::from(one.dst)];
    let ieee = w.mode.ieee;
    match one.op {
        DualOp::Mov => *a,
        DualOp::Fmac => fma32(a, b, c),
        DualOp::Fmaak => fma32(a, b, &[one.literal; 32]),
        DualOp::Fmamk => fma32(a, &[one.literal; 32], b),
        DualOp::Mul => floats(a, b, |a, b| a * b),
        DualOp::Add => floats(a, b, |a, b| a + b),
        DualOp::Sub => floats(a, b, |a, b| a - b),
        DualOp::Subrev => floats(a, b, |a, b| b - a),
        DualOp::MulDx9Zero => floats(a, b, dx9_product),
        DualOp::Max => floats(a, b, |a, b| max(ieee, a, b)),
        DualOp::Min => floats(a, b, |a, b| min(ieee, a, b)),
        DualOp::Cndmask => {
            let mut chosen = *a;
            merge(&mut chosen, b, w.vcc());
            chosen
        }
        DualOp::AddNc => map2(a, b, u32::wrapping_add),
        DualOp::Lshlrev => map2(a, b, |a, b| b << (a & 31)),
        DualOp::And => map2(a, b, |a, b| a & b),
        DualOp::Dot2accF16 => each(|lane| {
            let part = |bits: u32| f16::from_bits(bits as u16).to_f32();
            let products = [0, 16].map(|shift| part(a[lane] >> shift) * part(b[lane] >> shift));
            (f32::from_bits(c[lane]) + products[0] + products[1]).to_bits()
        }),
    }
}

/// Executes both halves of a VOPD instruction.
pub(in crate::gfx11) fn dual(w: &mut Wave, halves: &[Half; 2]) {
    let values = [half(w, &halves[0]), half(w, &halves[1])];
    let exec = w.exec();
    for (one, value) in halves.iter().zip(&values) {
        w.put(one.dst, value, exec);
    }
}
