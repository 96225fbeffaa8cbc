//! VOPD: pairs of instructions that are executed at the same time.
//!
//! AMD, "RDNA3 Instruction Set Architecture", section 7.6 ("Dual Issue VALU"): both halves read their sources before
//! either half writes.

use half::f16;

use super::float32::{dx9_product, max, min};
use super::vector::{flush32, map2};
use crate::fused::fma32;
use crate::gfx11::isa::instruction::{DualOp, Half};
use crate::gfx11::isa::operand::Src;
use crate::gfx11::wave::{Lanes, Wave, merge};
use crate::lanes::{each, over};

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

/// Flushes the denormal halves of each word.
fn flush_halves(value: &Lanes) -> Lanes {
    let flushed = |half: u32| {
        if half & 0x7c00 == 0 {
            half & 0x8000
        } else {
            half
        }
    };
    over(value, |bits| {
        flushed(bits & 0xffff) | flushed(bits >> 16) << 16
    })
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
    let c = &w.vector[usize::from(one.dst)];
    if w.mode.denormals & 7 == 7 || !is_float(one.op) {
        return result(w, one, a, b, c);
    }
    let (mut a, mut b, mut c) = (*a, *b, *c);
    if one.op == DualOp::Dot2accF16 {
        // The factors are pairs of 16-bit floats.
        if w.mode.denormals & 4 == 0 {
            (a, b) = (flush_halves(&a), flush_halves(&b));
        }
    } else if w.mode.denormals & 1 == 0 {
        flush32(&mut a);
        flush32(&mut b);
    }
    if w.mode.denormals & 1 == 0 {
        flush32(&mut c);
    }
    let mut value = result(w, one, &a, &b, &c);
    if w.mode.denormals & 2 == 0 {
        flush32(&mut value);
    }
    value
}

#[inline(always)]
fn result(w: &Wave, one: &Half, a: &Lanes, b: &Lanes, c: &Lanes) -> Lanes {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of the first half of an instruction on v0 and v1, which adds to v2.
    fn of(op: DualOp, [a, b, c]: [u32; 3], denormals: u8) -> u32 {
        let mut wave = Wave::filled(a, denormals);
        wave.vector[1] = [b; 32];
        wave.vector[2] = [c; 32];
        let half = |op, dst| Half {
            op,
            dst,
            a: Src::Vector(0),
            b: 1,
            literal: 0,
        };
        dual(&mut wave, &[half(op, 2), half(DualOp::Mov, 3)]);
        wave.vector[2][0]
    }

    // RDNA3 ISA, MODE register: FP_DENORM has two bits for 32-bit floats, and two for 16-bit and 64-bit floats.
    #[test]
    fn the_factors_of_a_dot_product_are_pairs_of_16_bit_floats() {
        const ONE: u32 = 0x3c00;
        const SUM: u32 = 0x4040_0000;
        // As a 32-bit float, the pair (1, 0) is denormal.
        let pairs = [ONE, ONE, 0x4000_0000];
        for denormals in [15, 12, 0] {
            assert_eq!(of(DualOp::Dot2accF16, pairs, denormals), SUM);
        }
        // 1 * 2^-24 + 0
        let small = [ONE, 1, 0];
        assert_eq!(of(DualOp::Dot2accF16, small, 15), 0x3380_0000);
        assert_eq!(of(DualOp::Dot2accF16, small, 11), 0);
        assert_eq!(of(DualOp::Dot2accF16, [ONE << 16, 1 << 16, 0], 11), 0);
        assert_eq!(of(DualOp::Dot2accF16, small, 12), 0x3380_0000);
    }

    #[test]
    fn denormals_of_32_bits_are_flushed_in_every_operand() {
        const ONE: u32 = 0x3f80_0000;
        assert_eq!(of(DualOp::Fmac, [0, ONE, 1], 15), 1);
        // The addend is an operand, too. Bit 0 keeps denormal operands, and bit 1 keeps denormal results.
        assert_eq!(of(DualOp::Fmac, [0, ONE, 1], 14), 0);
        assert_eq!(of(DualOp::Fmac, [0, ONE, 1], 13), 0);
        assert_eq!(of(DualOp::Mul, [1, ONE, 0], 14), 0);
        assert_eq!(of(DualOp::Mov, [1, 0, 0], 0), 1);
    }
}
