//! Conversions between types.
//!
//! AMD, "RDNA3 Instruction Set Architecture", `V_CVT_*`. A conversion to an integer saturates, and converts NaN to 0.

use half::f16;

use super::Handler;
use super::float16::{narrow, wide};
use super::vector::{map1, map2, map3};
use crate::gfx11::isa::instruction::Vector;
use crate::gfx11::isa::vector::VectorOp;
use crate::gfx11::wave::Wave;
use crate::lanes::over;

fn float(bits: u32) -> f32 {
    f32::from_bits(bits)
}

#[inline(always)]
fn from_int(w: &mut Wave, i: &Vector, f: impl Fn(u32) -> f32) {
    let a = w.b32(i, 0);
    w.set_f32(i, map1(&a, |a| f(a).to_bits()));
}

#[inline(always)]
fn to_int(w: &mut Wave, i: &Vector, f: impl Fn(f32) -> u32) {
    let a = w.f32(i, 0);
    w.set_b32(i, &map1(&a, |a| f(float(a))));
}

#[inline(always)]
fn pack(w: &mut Wave, i: &Vector, f: impl Fn(f32) -> u16) {
    let (a, b) = (w.f32(i, 0), w.f32(i, 1));
    w.set_b32(
        i,
        &map2(&a, &b, |a, b| {
            u32::from(f(float(a))) | u32::from(f(float(b))) << 16
        }),
    );
}

#[inline(always)]
fn pack_int(w: &mut Wave, i: &Vector, f: impl Fn(u32) -> u16) {
    let (a, b) = (w.b32(i, 0), w.b32(i, 1));
    w.set_b32(
        i,
        &map2(&a, &b, |a, b| u32::from(f(a)) | u32::from(f(b)) << 16),
    );
}

/// Rounds to an `f16` towards zero.
pub(super) fn toward_zero(value: f32) -> u16 {
    let rounded = f16::from_f32(value);
    let away = rounded.to_f32().abs() > value.abs();
    match away && value.is_finite() {
        true => rounded.to_bits() - 1,
        false => rounded.to_bits(),
    }
}

/// Rounds to an `f16` and returns its bits.
pub(super) fn f16_bits(value: f32) -> u32 {
    u32::from(f16::from_f32(value).to_bits())
}

fn norm_i16(x: f32) -> u16 {
    ((x.clamp(-1.0, 1.0) * 32767.0).round_ties_even() as i16) as u16
}

fn norm_u16(x: f32) -> u16 {
    (x.clamp(0.0, 1.0) * 65535.0).round_ties_even() as u16
}

/// The function that executes an instruction, or `None` if this file does not implement the instruction.
pub(super) fn handler(op: VectorOp) -> Option<Handler> {
    use VectorOp::*;
    Some(match op {
        CvtF32I32 => |w, i| from_int(w, i, |a| a as i32 as f32),
        CvtF32U32 => |w, i| from_int(w, i, |a| a as f32),
        CvtF32Ubyte0 => |w, i| from_int(w, i, |a| (a & 0xff) as f32),
        CvtF32Ubyte1 => |w, i| from_int(w, i, |a| (a >> 8 & 0xff) as f32),
        CvtF32Ubyte2 => |w, i| from_int(w, i, |a| (a >> 16 & 0xff) as f32),
        CvtF32Ubyte3 => |w, i| from_int(w, i, |a| (a >> 24) as f32),
        CvtOffF32I4 => |w, i| from_int(w, i, |a| ((a << 28) as i32 >> 28) as f32 / 16.0),
        CvtU32F32 => |w, i| to_int(w, i, |a| a as u32),
        CvtI32F32 => |w, i| to_int(w, i, |a| a as i32 as u32),
        CvtNearestI32F32 => |w, i| to_int(w, i, |a| (f64::from(a) + 0.5).floor() as i32 as u32),
        CvtFloorI32F32 => |w, i| to_int(w, i, |a| a.floor() as i32 as u32),
        CvtF16F32 => |w, i| {
            let a = w.f32(i, 0);
            w.set_f16(i, map1(&a, |a| f16_bits(float(a))));
        },
        CvtF32F16 => |w, i| {
            let a = w.f16(i, 0);
            w.set_f32(i, map1(&a, |a| f16::from_bits(a as u16).to_f32().to_bits()));
        },
        CvtF16U16 => |w, i| {
            let a = w.b16(i, 0);
            w.set_f16(i, map1(&a, |a| narrow(f64::from(a))));
        },
        CvtF16I16 => |w, i| {
            let a = w.b16(i, 0);
            w.set_f16(i, map1(&a, |a| narrow(f64::from(a as i16))));
        },
        CvtU16F16 => |w, i| {
            let a = w.f16(i, 0);
            w.set_b16(i, &map1(&a, |a| u32::from(wide(a) as u16)));
        },
        CvtI16F16 => |w, i| {
            let a = w.f16(i, 0);
            w.set_b16(i, &map1(&a, |a| u32::from(wide(a) as i16 as u16)));
        },
        CvtI32I16 => |w, i| {
            let a = w.b16(i, 0);
            w.set_b32(i, &map1(&a, |a| a as i16 as u32));
        },
        CvtU32U16 => |w, i| {
            let a = w.b16(i, 0);
            w.set_b32(i, &a);
        },
        _ => return packed(op).or_else(|| doubles(op)),
    })
}

fn packed(op: VectorOp) -> Option<Handler> {
    use VectorOp::*;
    Some(match op {
        CvtPkRtzF16F32 => |w, i| pack(w, i, toward_zero),
        CvtPkI16F32 => |w, i| pack(w, i, |a| a as i16 as u16),
        CvtPkU16F32 => |w, i| pack(w, i, |a| a as u16),
        CvtPkNormI16F32 => |w, i| pack(w, i, norm_i16),
        CvtPkNormU16F32 => |w, i| pack(w, i, norm_u16),
        CvtPkU16U32 => |w, i| pack_int(w, i, |a| a.min(0xffff) as u16),
        CvtPkI16I32 => |w, i| pack_int(w, i, |a| (a as i32).clamp(-0x8000, 0x7fff) as u16),
        CvtPkU8F32 => |w, i| {
            let (a, b, c) = (w.f32(i, 0), w.b32(i, 1), w.b32(i, 2));
            let f = |a: u32, b: u32, c: u32| {
                let shift: u32 = 8 * (b & 3);
                let byte = u32::from(float(a).round_ties_even() as u8);
                c & !(0xff << shift) | byte << shift
            };
            w.set_b32(i, &map3(&a, &b, &c, f));
        },
        _ => return None,
    })
}

fn doubles(op: VectorOp) -> Option<Handler> {
    use VectorOp::*;
    Some(match op {
        CvtF32F64 => |w, i| {
            let a = w.f64(i, 0);
            w.set_f32(i, over(&a, |a| (f64::from_bits(a) as f32).to_bits()));
        },
        CvtF64F32 => |w, i| {
            let a = w.f32(i, 0);
            w.set_f64(i, over(&a, |a| f64::from(float(a)).to_bits()));
        },
        CvtI32F64 => |w, i| {
            let a = w.f64(i, 0);
            w.set_b32(i, &over(&a, |a| f64::from_bits(a) as i32 as u32));
        },
        CvtU32F64 => |w, i| {
            let a = w.f64(i, 0);
            w.set_b32(i, &over(&a, |a| f64::from_bits(a) as u32));
        },
        CvtF64I32 => |w, i| {
            let a = w.b32(i, 0);
            w.set_f64(i, over(&a, |a| f64::from(a as i32).to_bits()));
        },
        CvtF64U32 => |w, i| {
            let a = w.b32(i, 0);
            w.set_f64(i, over(&a, |a| f64::from(a).to_bits()));
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_towards_zero_never_grows_and_keeps_infinity() {
        assert_eq!(toward_zero(65519.0), 0x7bff);
        assert_eq!(toward_zero(65536.0), 0x7bff);
        assert_eq!(toward_zero(f32::INFINITY), 0x7c00);
        assert_eq!(toward_zero(1.0 + 2f32.powi(-11) * 1.5), 0x3c00);
        assert_eq!(toward_zero(-1.0 - 2f32.powi(-11) * 1.5), 0xbc00);
        assert_eq!(toward_zero(2f32.powi(-25) * 1.5), 0);
    }

    #[test]
    fn normalised_integers_saturate() {
        assert_eq!(
            (norm_i16(2.0), norm_i16(-2.0), norm_u16(0.5)),
            (32767, 0x8001, 32768)
        );
    }
}
