//! Arithmetic on 32-bit floats.
//!
//! AMD, "RDNA3 Instruction Set Architecture", the pseudo-code of each instruction in VOP1, VOP2 and VOP3. On hardware,
//! `v_exp_f32`, `v_log_f32`, `v_rcp_f32`, `v_rsq_f32`, `v_sin_f32` and `v_cos_f32` have an error of one ULP or more.
//! The simulator computes them in 64 bits and rounds.

use super::Handler;
use super::vector::{flush32, map1, map2, map3};
use crate::fused::fma32;
use crate::gfx11::isa::instruction::Vector;
use crate::gfx11::isa::vector::VectorOp;
use crate::gfx11::wave::Wave;

#[inline(always)]
fn one(w: &mut Wave, i: &Vector, f: impl Fn(f32) -> f32) {
    let a = w.f32(i, 0);
    w.set_f32(i, map1(&a, |a| f(f32::from_bits(a)).to_bits()));
}

#[inline(always)]
fn two(w: &mut Wave, i: &Vector, f: impl Fn(f32, f32) -> f32) {
    let (a, b) = (w.f32(i, 0), w.f32(i, 1));
    w.set_f32(
        i,
        map2(&a, &b, |a, b| {
            f(f32::from_bits(a), f32::from_bits(b)).to_bits()
        }),
    );
}

#[inline(always)]
fn three(w: &mut Wave, i: &Vector, f: impl Fn(f32, f32, f32) -> f32) {
    let (a, b, c) = (w.f32(i, 0), w.f32(i, 1), w.f32(i, 2));
    let f = |a, b, c| f(f32::from_bits(a), f32::from_bits(b), f32::from_bits(c)).to_bits();
    w.set_f32(i, map3(&a, &b, &c, f));
}

fn fma(w: &mut Wave, i: &Vector) {
    let (a, b, c) = (w.f32(i, 0), w.f32(i, 1), w.f32(i, 2));
    w.set_f32(i, fma32(&a, &b, &c));
}

fn fmac(w: &mut Wave, i: &Vector) {
    let (a, b) = (w.f32(i, 0), w.f32(i, 1));
    let mut c = w.vector[usize::from(i.dst)];
    if w.mode.denormals & 1 == 0 {
        flush32(&mut c);
    }
    w.set_f32(i, fma32(&a, &b, &c));
}

/// `v_min_f32`: the minimum. A NaN operand is ignored, except for signalling NaNs in IEEE mode. -0 is below +0.
#[inline(always)]
pub(super) fn min(ieee: bool, a: f32, b: f32) -> f32 {
    if let Some(nan) = not_a_number(ieee, a, b) {
        return nan;
    }
    let less = a < b || a == b && a.is_sign_negative();
    if less { a } else { b }
}

/// `v_max_f32`: the maximum. A NaN operand is ignored, except for signalling NaNs in IEEE mode. +0 is above -0.
#[inline(always)]
pub(super) fn max(ieee: bool, a: f32, b: f32) -> f32 {
    if let Some(nan) = not_a_number(ieee, a, b) {
        return nan;
    }
    let greater = a > b || a == b && !a.is_sign_negative();
    if greater { a } else { b }
}

/// The minimum or maximum if an operand is NaN, otherwise `None`. In IEEE mode, a signalling NaN is returned as a quiet
/// NaN.
#[inline(always)]
fn not_a_number(ieee: bool, a: f32, b: f32) -> Option<f32> {
    let signals = |x: f32| ieee && x.is_nan() && x.to_bits() & 1 << 22 == 0;
    let quiet = |x: f32| f32::from_bits(x.to_bits() | 1 << 22);
    match () {
        () if signals(a) => Some(quiet(a)),
        () if signals(b) => Some(quiet(b)),
        () if a.is_nan() => Some(b),
        () if b.is_nan() => Some(a),
        () => None,
    }
}

fn med3(ieee: bool, a: f32, b: f32, c: f32) -> f32 {
    if a.is_nan() || b.is_nan() || c.is_nan() {
        return min(ieee, min(ieee, a, b), c);
    }
    let most = max(ieee, max(ieee, a, b), c);
    match () {
        () if most == a => max(ieee, b, c),
        () if most == b => max(ieee, a, c),
        () => max(ieee, a, b),
    }
}

/// The product under the rules of DirectX 9, where zero times anything is zero.
pub(super) fn dx9_product(a: f32, b: f32) -> f32 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

fn fraction(x: f32) -> f32 {
    // The result is below 1 even if the subtraction rounds up.
    (x - x.floor()).min(f32::from_bits(0x3f7f_ffff))
}

/// The function that executes an instruction, or `None` if this file does not implement the instruction.
pub(super) fn handler(op: VectorOp) -> Option<Handler> {
    use VectorOp::*;
    Some(match op {
        AddF32 => |w, i| two(w, i, |a, b| a + b),
        SubF32 => |w, i| two(w, i, |a, b| a - b),
        SubrevF32 => |w, i| two(w, i, |a, b| b - a),
        MulF32 => |w, i| two(w, i, |a, b| a * b),
        MulDx9ZeroF32 => |w, i| two(w, i, dx9_product),
        FmacDx9ZeroF32 => |w, i| {
            let (a, b, c) = (w.f32(i, 0), w.f32(i, 1), w.vector[usize::from(i.dst)]);
            let f = |a, b, c| {
                let [a, b, c] = [a, b, c].map(f32::from_bits);
                if a == 0.0 || b == 0.0 {
                    c
                } else {
                    a.mul_add(b, c)
                }
                .to_bits()
            };
            w.set_f32(i, map3(&a, &b, &c, f));
        },
        FmaDx9ZeroF32 => |w, i| {
            three(w, i, |a, b, c| {
                if a == 0.0 || b == 0.0 {
                    c
                } else {
                    a.mul_add(b, c)
                }
            })
        },
        FmaF32 | FmaakF32 | FmamkF32 => fma,
        FmacF32 => fmac,
        MinF32 => |w, i| {
            let ieee = w.mode.ieee;
            two(w, i, |a, b| min(ieee, a, b));
        },
        MaxF32 => |w, i| {
            let ieee = w.mode.ieee;
            two(w, i, |a, b| max(ieee, a, b));
        },
        Min3F32 => |w, i| {
            let ieee = w.mode.ieee;
            three(w, i, |a, b, c| min(ieee, min(ieee, a, b), c));
        },
        Max3F32 => |w, i| {
            let ieee = w.mode.ieee;
            three(w, i, |a, b, c| max(ieee, max(ieee, a, b), c));
        },
        Med3F32 => |w, i| {
            let ieee = w.mode.ieee;
            three(w, i, |a, b, c| med3(ieee, a, b, c));
        },
        MaxminF32 => |w, i| {
            let ieee = w.mode.ieee;
            three(w, i, |a, b, c| min(ieee, max(ieee, a, b), c));
        },
        MinmaxF32 => |w, i| {
            let ieee = w.mode.ieee;
            three(w, i, |a, b, c| max(ieee, min(ieee, a, b), c));
        },
        _ => return unary(op),
    })
}

fn unary(op: VectorOp) -> Option<Handler> {
    use VectorOp::*;
    use std::f64::consts::TAU;
    Some(match op {
        FractF32 => |w, i| one(w, i, fraction),
        TruncF32 => |w, i| one(w, i, f32::trunc),
        CeilF32 => |w, i| one(w, i, f32::ceil),
        FloorF32 => |w, i| one(w, i, f32::floor),
        RndneF32 => |w, i| one(w, i, f32::round_ties_even),
        ExpF32 => |w, i| one(w, i, |a| f64::from(a).exp2() as f32),
        LogF32 => |w, i| one(w, i, |a| f64::from(a).log2() as f32),
        RcpF32 | RcpIflagF32 => |w, i| one(w, i, |a| 1.0 / a),
        RsqF32 => |w, i| one(w, i, |a| (1.0 / f64::from(a).sqrt()) as f32),
        SqrtF32 => |w, i| one(w, i, f32::sqrt),
        SinF32 => |w, i| one(w, i, |a| (f64::from(a).rem_euclid(1.0) * TAU).sin() as f32),
        CosF32 => |w, i| one(w, i, |a| (f64::from(a).rem_euclid(1.0) * TAU).cos() as f32),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minimum_and_maximum_order_zeros_and_prefer_numbers() {
        assert_eq!(min(true, 0.0, -0.0).to_bits(), 0x8000_0000);
        assert_eq!(max(true, -0.0, 0.0).to_bits(), 0);
        assert_eq!(min(true, f32::NAN, 3.0), 3.0);
        assert_eq!(max(true, 3.0, f32::NAN), 3.0);
        let signalling = f32::from_bits(0x7f80_0001);
        assert_eq!(max(true, signalling, 3.0).to_bits(), 0x7fc0_0001);
        assert_eq!(max(false, signalling, 3.0), 3.0);
        assert_eq!(med3(true, 3.0, 1.0, 2.0), 2.0);
    }
}
