//! Arithmetic on 16-bit floats.
//!
//! AMD, "RDNA3 Instruction Set Architecture", the pseudo-code of each instruction in VOP1, VOP2 and VOP3. Sums and
//! products are computed in 64 bits, where they are exact or nearly exact, and then rounded once to 16 bits.

use half::f16;

use super::Handler;
use super::vector::{flush16, map1, map2, map3};
use crate::gfx11::isa::instruction::Vector;
use crate::gfx11::isa::vector::VectorOp;
use crate::gfx11::wave::Wave;
use crate::lanes::over;

/// The value of the `f16` in the low 16 bits.
pub(super) fn wide(bits: u32) -> f64 {
    f16::from_bits(bits as u16).to_f64()
}

/// Rounds to an `f16` once and returns its bits. On some processors, `f16::from_f64` rounds to `f32` first, so it
/// rounds twice. This function therefore rounds to `f32` itself, and to odd: an inexact value becomes the neighbour
/// whose last bit is 1.
pub(super) fn narrow(value: f64) -> u32 {
    let near = value as f32;
    let bits = near.to_bits();
    let lost = value - f64::from(near);
    let odd = match lost != 0.0 && value.is_finite() && bits & 1 == 0 {
        true if (lost > 0.0) == value.is_sign_positive() => f32::from_bits(bits + 1),
        true => f32::from_bits(bits - 1),
        false => near,
    };
    u32::from(f16::from_f32(odd).to_bits())
}

/// `a * b + c`, rounded once. The product is exact in 64 bits. If the operands of the sum are too far apart for an
/// exact sum, the sum is rounded to odd, so the second rounding takes the lost bits into account.
pub(super) fn fma(a: f64, b: f64, c: f64) -> f64 {
    let product = a * b;
    let sum = product + c;
    let rest = sum - product;
    let lost = (product - (sum - rest)) + (c - rest);
    let bits = sum.to_bits();
    match sum.is_finite() && lost != 0.0 && bits & 1 == 0 {
        true if (lost > 0.0) == (sum > 0.0) => f64::from_bits(bits + 1),
        true => f64::from_bits(bits - 1),
        false => sum,
    }
}

#[inline(always)]
fn one(w: &mut Wave, i: &Vector, f: impl Fn(f64) -> f64) {
    let a = w.f16(i, 0);
    w.set_f16(i, map1(&a, |a| narrow(f(wide(a)))));
}

#[inline(always)]
fn two(w: &mut Wave, i: &Vector, f: impl Fn(f64, f64) -> f64) {
    let (a, b) = (w.f16(i, 0), w.f16(i, 1));
    w.set_f16(i, map2(&a, &b, |a, b| narrow(f(wide(a), wide(b)))));
}

#[inline(always)]
fn three(w: &mut Wave, i: &Vector, f: impl Fn(f64, f64, f64) -> f64) {
    let (a, b, c) = (w.f16(i, 0), w.f16(i, 1), w.f16(i, 2));
    w.set_f16(
        i,
        map3(&a, &b, &c, |a, b, c| narrow(f(wide(a), wide(b), wide(c)))),
    );
}

/// The minimum. A NaN operand is ignored, and -0 is below +0.
pub(super) fn min(a: f64, b: f64) -> f64 {
    match () {
        () if a.is_nan() => b,
        () if b.is_nan() => a,
        () if a < b || a == b && a.is_sign_negative() => a,
        () => b,
    }
}

/// The maximum. A NaN operand is ignored, and +0 is above -0.
pub(super) fn max(a: f64, b: f64) -> f64 {
    match () {
        () if a.is_nan() => b,
        () if b.is_nan() => a,
        () if a > b || a == b && !a.is_sign_negative() => a,
        () => b,
    }
}

fn med3(a: f64, b: f64, c: f64) -> f64 {
    if a.is_nan() || b.is_nan() || c.is_nan() {
        return min(min(a, b), c);
    }
    max(min(a, b), min(max(a, b), c))
}

/// The function that executes an instruction, or `None` if this file does not implement the instruction.
pub(super) fn handler(op: VectorOp) -> Option<Handler> {
    use VectorOp::*;
    Some(match op {
        AddF16 => |w, i| two(w, i, |a, b| a + b),
        SubF16 => |w, i| two(w, i, |a, b| a - b),
        SubrevF16 => |w, i| two(w, i, |a, b| b - a),
        MulF16 => |w, i| two(w, i, |a, b| a * b),
        MinF16 => |w, i| two(w, i, min),
        MaxF16 => |w, i| two(w, i, max),
        FmaF16 | FmaakF16 | FmamkF16 => |w, i| three(w, i, fma),
        FmacF16 => |w, i| {
            let (a, b) = (w.f16(i, 0), w.f16(i, 1));
            let shift = if i.mods.high & 8 != 0 { 16 } else { 0 };
            let old = &w.vector[usize::from(i.dst)];
            let mut c = over(old, |bits| bits >> shift & 0xffff);
            if w.mode.denormals & 4 == 0 {
                flush16(&mut c);
            }
            w.set_f16(
                i,
                map3(&a, &b, &c, |a, b, c| narrow(fma(wide(a), wide(b), wide(c)))),
            );
        },
        Min3F16 => |w, i| three(w, i, |a, b, c| min(min(a, b), c)),
        Max3F16 => |w, i| three(w, i, |a, b, c| max(max(a, b), c)),
        Med3F16 => |w, i| three(w, i, med3),
        MaxminF16 => |w, i| three(w, i, |a, b, c| min(max(a, b), c)),
        MinmaxF16 => |w, i| three(w, i, |a, b, c| max(min(a, b), c)),
        FloorF16 => |w, i| one(w, i, f64::floor),
        CeilF16 => |w, i| one(w, i, f64::ceil),
        TruncF16 => |w, i| one(w, i, f64::trunc),
        RndneF16 => |w, i| one(w, i, f64::round_ties_even),
        FractF16 => |w, i| {
            one(w, i, |a| {
                (a - a.floor()).min(f16::from_bits(0x3bff).to_f64())
            })
        },
        RcpF16 => |w, i| one(w, i, |a| 1.0 / a),
        SqrtF16 => |w, i| one(w, i, f64::sqrt),
        RsqF16 => |w, i| one(w, i, |a| 1.0 / a.sqrt()),
        ExpF16 => |w, i| one(w, i, f64::exp2),
        LogF16 => |w, i| one(w, i, f64::log2),
        SinF16 => |w, i| one(w, i, |a| (a.rem_euclid(1.0) * std::f64::consts::TAU).sin()),
        CosF16 => |w, i| one(w, i, |a| (a.rem_euclid(1.0) * std::f64::consts::TAU).cos()),
        PackB32F16 => |w, i| {
            let (a, b) = (w.f16(i, 0), w.f16(i, 1));
            w.set_b32(i, &map2(&a, &b, |a, b| a | b << 16));
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_beside_the_middle_of_two_halves_is_rounded_once() {
        let (one, tie) = (1.0, 1.0 + 2f64.powi(-11));
        assert_eq!(narrow(one), 0x3c00);
        assert_eq!(narrow(tie), 0x3c00);
        assert_eq!(narrow(tie + 2f64.powi(-40)), 0x3c01);
        assert_eq!(narrow(-tie - 2f64.powi(-40)), 0xbc01);
        assert_eq!(narrow(1.0 + 3.0 * 2f64.powi(-11) - 2f64.powi(-40)), 0x3c01);
        assert_eq!([narrow(1e300), narrow(-1e-300)], [0x7c00, 0x8000]);
        assert_eq!(narrow(f64::NAN) & 0x7fff, 0x7e00);
    }
}
