//! The steps of a division.
//!
//! AMD, "RDNA3 Instruction Set Architecture": `V_DIV_SCALE_*`, `V_DIV_FMAS_*`, `V_DIV_FIXUP_*`. According to this
//! document, `V_DIV_FMAS_F32` multiplies its result by 2^32. But the scaling in `V_DIV_SCALE_F32` requires 2^64 or
//! 2^-64, depending on the size of the quotient. AMD's later documents specify the latter factors, so the simulator
//! uses them.

use super::Handler;
use super::float_parts::{ldexp, ldexp32};
use super::float16::{narrow, wide};
use super::vector::map3;
use crate::fused::fma32;
use crate::gfx11::isa::instruction::Vector;
use crate::gfx11::isa::vector::VectorOp;
use crate::gfx11::wave::Wave;
use crate::lanes::each;

fn exponent32(x: f32) -> i32 {
    (x.to_bits() >> 23 & 0xff) as i32
}

fn exponent64(x: f64) -> i32 {
    (x.to_bits() >> 52 & 0x7ff) as i32
}

/// Whether a number is nonzero and below the normal 32-bit floats.
fn tiny32(x: f64) -> bool {
    x != 0.0 && x.abs() < f64::from(f32::MIN_POSITIVE)
}

fn scale32(s0: f32, denominator: f32, numerator: f32) -> (f32, bool) {
    let (wide_d, wide_n) = (f64::from(denominator), f64::from(numerator));
    let inverse_tiny = tiny32(1.0 / wide_d);
    let quotient_tiny = tiny32(wide_n / wide_d);
    let is_denominator = s0.to_bits() == denominator.to_bits();
    match () {
        () if numerator == 0.0 || denominator == 0.0 => (f32::NAN, false),
        () if exponent32(numerator) - exponent32(denominator) >= 96 => {
            (if is_denominator { ldexp32(s0, 64) } else { s0 }, true)
        }
        () if tiny32(wide_d) => (ldexp32(s0, 64), false),
        () if inverse_tiny && quotient_tiny => {
            (if is_denominator { ldexp32(s0, -64) } else { s0 }, true)
        }
        () if inverse_tiny => (ldexp32(s0, -64), false),
        () if quotient_tiny => {
            let is_numerator = s0.to_bits() == numerator.to_bits();
            (if is_numerator { ldexp32(s0, 64) } else { s0 }, true)
        }
        () if exponent32(numerator) <= 23 => (ldexp32(s0, 64), false),
        () => (s0, false),
    }
}

/// Whether a quotient is nonzero and below the normal 64-bit floats.
fn tiny_quotient64(numerator: f64, denominator: f64) -> bool {
    let quotient = numerator / denominator;
    let by_exponents = exponent64(numerator) - exponent64(denominator) < -1023;
    quotient.is_finite() && numerator != 0.0 && (quotient.abs() < f64::MIN_POSITIVE || by_exponents)
}

fn scale64(s0: f64, denominator: f64, numerator: f64) -> (f64, bool) {
    let inverse_tiny = tiny_quotient64(1.0, denominator) && denominator.is_finite();
    let quotient_tiny = tiny_quotient64(numerator, denominator) && denominator.is_finite();
    let is_denominator = s0.to_bits() == denominator.to_bits();
    match () {
        () if numerator == 0.0 || denominator == 0.0 => (f64::NAN, false),
        () if exponent64(numerator) - exponent64(denominator) >= 768 => {
            (if is_denominator { ldexp(s0, 128) } else { s0 }, true)
        }
        () if denominator.is_subnormal() => (ldexp(s0, 128), false),
        () if inverse_tiny && quotient_tiny => {
            (if is_denominator { ldexp(s0, -128) } else { s0 }, true)
        }
        () if inverse_tiny => (ldexp(s0, -128), false),
        () if quotient_tiny => {
            let is_numerator = s0.to_bits() == numerator.to_bits();
            (if is_numerator { ldexp(s0, 128) } else { s0 }, true)
        }
        () if exponent64(numerator) <= 53 => (ldexp(s0, 128), false),
        () => (s0, false),
    }
}

fn fixup32(quotient: f32, d: f32, n: f32) -> f32 {
    let negative = d.is_sign_negative() != n.is_sign_negative();
    let signed = |x: f32| if negative { -x } else { x };
    let quiet = |x: f32| f32::from_bits(x.to_bits() | 1 << 22);
    match () {
        () if n.is_nan() => quiet(n),
        () if d.is_nan() => quiet(d),
        () if d == 0.0 && n == 0.0 || d.is_infinite() && n.is_infinite() => {
            f32::from_bits(0xffc0_0000)
        }
        () if d == 0.0 || n.is_infinite() => signed(f32::INFINITY),
        () if d.is_infinite() || n == 0.0 => signed(0.0),
        () if exponent32(n) - exponent32(d) < -150 => signed(0.0),
        // The quotient overflowed in the earlier steps.
        () if quotient.is_nan() => signed(f32::INFINITY),
        () => signed(quotient.abs()),
    }
}

fn fixup64(quotient: f64, d: f64, n: f64) -> f64 {
    let negative = d.is_sign_negative() != n.is_sign_negative();
    let signed = |x: f64| if negative { -x } else { x };
    let quiet = |x: f64| f64::from_bits(x.to_bits() | 1 << 51);
    match () {
        () if n.is_nan() => quiet(n),
        () if d.is_nan() => quiet(d),
        () if d == 0.0 && n == 0.0 || d.is_infinite() && n.is_infinite() => {
            f64::from_bits(0xfff8 << 48)
        }
        () if d == 0.0 || n.is_infinite() => signed(f64::INFINITY),
        () if d.is_infinite() || n == 0.0 => signed(0.0),
        () if exponent64(n) - exponent64(d) < -1075 => signed(0.0),
        () if quotient.is_nan() => signed(f64::INFINITY),
        () => signed(quotient.abs()),
    }
}

/// The function that executes an instruction, or `None` if this file does not implement the instruction.
pub(super) fn handler(op: VectorOp) -> Option<Handler> {
    use VectorOp::*;
    Some(match op {
        DivScaleF32 => div_scale_f32,
        DivScaleF64 => div_scale_f64,
        DivFmasF32 => div_fmas_f32,
        DivFmasF64 => div_fmas_f64,
        DivFixupF32 => div_fixup_f32,
        DivFixupF64 => div_fixup_f64,
        DivFixupF16 => div_fixup_f16,
        _ => return None,
    })
}

/// `v_div_scale_f32`: scales a source by a power of two, and sets the mask bits of the lanes whose quotient must be
/// scaled back.
fn div_scale_f32(w: &mut Wave, i: &Vector) {
    let (a, b, c) = (w.f32(i, 0), w.f32(i, 1), w.f32(i, 2));
    let (mut value, mut flags) = ([0; 32], 0);
    for lane in 0..32 {
        let [a, b, c] = [a[lane], b[lane], c[lane]].map(f32::from_bits);
        let (scaled, flag) = scale32(a, b, c);
        value[lane] = scaled.to_bits();
        flags |= u32::from(flag) << lane;
    }
    w.set_f32(i, value);
    w.set_mask(i.sdst, flags);
}

/// `v_div_scale_f64`.
fn div_scale_f64(w: &mut Wave, i: &Vector) {
    let (a, b, c) = (w.f64(i, 0), w.f64(i, 1), w.f64(i, 2));
    let (mut value, mut flags) = ([0; 32], 0);
    for lane in 0..32 {
        let [a, b, c] = [a[lane], b[lane], c[lane]].map(f64::from_bits);
        let (scaled, flag) = scale64(a, b, c);
        value[lane] = scaled.to_bits();
        flags |= u32::from(flag) << lane;
    }
    w.set_f64(i, value);
    w.set_mask(i.sdst, flags);
}

/// `v_div_fmas_f32`: a fused multiply-add whose result is scaled back in the lanes of `vcc`.
fn div_fmas_f32(w: &mut Wave, i: &Vector) {
    let (a, b, c) = (w.f32(i, 0), w.f32(i, 1), w.f32(i, 2));
    let mut value = fma32(&a, &b, &c);
    let vcc = w.vcc();
    for lane in (0..32).filter(|lane| vcc >> lane & 1 != 0) {
        let [a, b, c] = [a[lane], b[lane], c[lane]].map(f32::from_bits);
        let power = if exponent32(c) > 127 { 64 } else { -64 };
        let exact = f64::from(a).mul_add(f64::from(b), f64::from(c));
        value[lane] = (ldexp(exact, power) as f32).to_bits();
    }
    w.set_f32(i, value);
}

/// `v_div_fmas_f64`.
fn div_fmas_f64(w: &mut Wave, i: &Vector) {
    let (a, b, c) = (w.f64(i, 0), w.f64(i, 1), w.f64(i, 2));
    let vcc = w.vcc();
    let value = each(|lane| {
        let [a, b, c] = [a[lane], b[lane], c[lane]].map(f64::from_bits);
        let sum = a.mul_add(b, c);
        match vcc >> lane & 1 {
            0 => sum,
            _ => ldexp(sum, if exponent64(c) > 1023 { 128 } else { -128 }),
        }
        .to_bits()
    });
    w.set_f64(i, value);
}

/// `v_div_fixup_f32`: replaces the quotient in special cases, such as a division by zero.
fn div_fixup_f32(w: &mut Wave, i: &Vector) {
    let (a, b, c) = (w.f32(i, 0), w.f32(i, 1), w.f32(i, 2));
    let f = |a, b, c| fixup32(f32::from_bits(a), f32::from_bits(b), f32::from_bits(c)).to_bits();
    w.set_f32(i, map3(&a, &b, &c, f));
}

/// `v_div_fixup_f64`.
fn div_fixup_f64(w: &mut Wave, i: &Vector) {
    let (a, b, c) = (w.f64(i, 0), w.f64(i, 1), w.f64(i, 2));
    let f = |lane: usize| {
        let [a, b, c] = [a[lane], b[lane], c[lane]].map(f64::from_bits);
        fixup64(a, b, c).to_bits()
    };
    w.set_f64(i, each(f));
}

/// `v_div_fixup_f16`. The values are converted to 64 bits, which is exact.
fn div_fixup_f16(w: &mut Wave, i: &Vector) {
    let (a, b, c) = (w.f16(i, 0), w.f16(i, 1), w.f16(i, 2));
    w.set_f16(
        i,
        map3(&a, &b, &c, |a, b, c| {
            narrow(fixup64(wide(a), wide(b), wide(c)))
        }),
    );
}
