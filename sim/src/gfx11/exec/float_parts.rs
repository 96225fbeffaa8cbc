//! Instructions on exponents and mantissas.
//!
//! AMD, "RDNA3 Instruction Set Architecture": `V_LDEXP_*`, `V_FREXP_EXP_*`, `V_FREXP_MANT_*`.

use half::f16;

use super::Handler;
use super::float16::{narrow, wide};
use super::vector::{map1, map2};
use crate::gfx11::isa::vector::VectorOp;
use crate::lanes::{each, over};

/// 2 to the power of `n`, which must be the exponent of a normal number.
fn power(n: i32) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

/// `x * 2^n`, rounded once.
pub(super) fn ldexp(x: f64, n: i32) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    // The result is a number between 0.5 and 1, times 2 to the power of `total`.
    let total = exponent(x).saturating_add(n);
    match total {
        1025.. => f64::INFINITY.copysign(x),
        -1021.. => 2.0 * mantissa(x) * power(total - 1),
        // The first product is exact. Below 2^-1100, every result is zero.
        _ => mantissa(x) * power(total.max(-1100) + 200) * power(-200),
    }
}

/// `x * 2^n` as an `f32`, rounded once. Every intermediate value is exact in 64 bits.
pub(super) fn ldexp32(x: f32, n: i32) -> f32 {
    ldexp(f64::from(x), n.clamp(-600, 600)) as f32
}

/// The exponent that belongs to a mantissa between 0.5 and 1, or 0 for zero, infinity and NaN.
pub(super) fn exponent(x: f64) -> i32 {
    if x == 0.0 || !x.is_finite() {
        return 0;
    }
    let normal = if x.abs() < f64::MIN_POSITIVE {
        x * 2f64.powi(64)
    } else {
        x
    };
    let shift = if x.abs() < f64::MIN_POSITIVE { 64 } else { 0 };
    (normal.to_bits() >> 52 & 0x7ff) as i32 - 1022 - shift
}

/// The mantissa between 0.5 and 1. Zero, infinity and NaN are returned unchanged.
pub(super) fn mantissa(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let normal = if x.abs() < f64::MIN_POSITIVE {
        x * 2f64.powi(64)
    } else {
        x
    };
    f64::from_bits(normal.to_bits() & !(0x7ff << 52) | 1022 << 52)
}

/// The function that executes an instruction, or `None` if this file does not implement the instruction.
pub(super) fn handler(op: VectorOp) -> Option<Handler> {
    use VectorOp::*;
    Some(match op {
        LdexpF32 => |w, i| {
            let (a, b) = (w.f32(i, 0), w.b32(i, 1));
            w.set_f32(
                i,
                map2(&a, &b, |a, b| {
                    ldexp32(f32::from_bits(a), b as i32).to_bits()
                }),
            );
        },
        LdexpF64 => |w, i| {
            let (a, b) = (w.f64(i, 0), w.b32(i, 1));
            w.set_f64(
                i,
                each(|lane| ldexp(f64::from_bits(a[lane]), b[lane] as i32).to_bits()),
            );
        },
        LdexpF16 => |w, i| {
            let (a, b) = (w.f16(i, 0), w.b16(i, 1));
            w.set_f16(
                i,
                map2(&a, &b, |a, b| {
                    narrow(ldexp(wide(a), i32::from(b as i16).clamp(-100, 100)))
                }),
            );
        },
        FrexpExpI32F32 => |w, i| {
            let a = w.f32(i, 0);
            w.set_b32(i, &map1(&a, |a| exponent(f32::from_bits(a).into()) as u32));
        },
        FrexpMantF32 => |w, i| {
            let a = w.f32(i, 0);
            w.set_f32(
                i,
                map1(&a, |a| {
                    (mantissa(f32::from_bits(a).into()) as f32).to_bits()
                }),
            );
        },
        FrexpExpI32F64 => |w, i| {
            let a = w.f64(i, 0);
            w.set_b32(i, &over(&a, |a| exponent(f64::from_bits(a)) as u32));
        },
        FrexpMantF64 => |w, i| {
            let a = w.f64(i, 0);
            w.set_f64(i, over(&a, |a| mantissa(f64::from_bits(a)).to_bits()));
        },
        FrexpExpI16F16 => |w, i| {
            let a = w.f16(i, 0);
            w.set_b16(
                i,
                &map1(&a, |a| {
                    exponent(f16::from_bits(a as u16).to_f64()) as u32 & 0xffff
                }),
            );
        },
        FrexpMantF16 => |w, i| {
            let a = w.f16(i, 0);
            w.set_f16(i, map1(&a, |a| narrow(mantissa(wide(a)))));
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_scale_and_are_rounded_once() {
        assert_eq!(ldexp(1.0, -1074), f64::from_bits(1));
        assert_eq!(ldexp(1.5, -1074), f64::from_bits(2));
        assert_eq!(ldexp(f64::from_bits(1), 2097), 2f64.powi(1023));
        assert_eq!(ldexp(1.0, 5000), f64::INFINITY);
        assert_eq!(ldexp(1.0, -5000), 0.0);
        assert_eq!(ldexp32(f32::from_bits(1), 149), 1.0);
        assert_eq!(ldexp32(1.0, -150).to_bits(), 0);
        // Two roundings, the first one to 2^-1074, would give a tie and then 2^-1031.
        let x = (1.0 + 2f64.powi(-44) + 2f64.powi(-52)) * 2f64.powi(-30);
        assert_eq!(ldexp(x, -1001), f64::from_bits((1 << 43) + 1));
        assert_eq!(ldexp(-1.5, -1075), f64::from_bits(1 << 63 | 1));
        assert_eq!(ldexp(1.0, -1075), 0.0);
        assert_eq!(ldexp(f64::MAX, -2098), f64::from_bits(1));
        assert_eq!(ldexp(f64::MAX, 1), f64::INFINITY);
        assert_eq!(ldexp(f64::MAX / 2.0, 1), f64::MAX);
        assert_eq!(ldexp(f64::MIN_POSITIVE, i32::MIN), 0.0);
    }

    #[test]
    fn a_number_is_its_mantissa_times_a_power_of_two() {
        for x in [1.0, 0.75, -3.5, 1e-310, 1e300] {
            assert_eq!(ldexp(mantissa(x), exponent(x)), x);
        }
        assert_eq!((exponent(1.0), mantissa(1.0)), (1, 0.5));
        assert_eq!(exponent(f64::INFINITY), 0);
    }
}
