//! Approximate instructions (PTX ISA 9.7.3). The ISA bounds their errors and lists their results for special values.
//! The simulator computes in `f64` and rounds once, which is within every bound.

use std::f64::consts::LN_2;

use half::{bf16, f16};

use super::float::{FTZ, canonical, finish, flush, modifiers};
use super::{Alu, Mods, flagged};
use crate::ptx::regs::{Run, map1, map2};
use crate::ptx::types::Type::{self, F32, F64};

/// Decodes an instruction. Returns `None` if this file does not implement the instruction.
pub(super) fn decode(m: &Mods) -> Option<Alu> {
    let ty = m.ty()?;
    let flags = modifiers(m) & !3;
    let run: Run = match (m.name(), ty) {
        ("ex2", F32) => |r, x, m| map1(r, x, m, |a: f32| apply(a, x.flags, f64::exp2)),
        ("lg2", F32) => |r, x, m| map1(r, x, m, |a: f32| apply(a, x.flags, logarithm)),
        ("sin", F32) => |r, x, m| map1(r, x, m, |a: f32| apply(a, x.flags, f64::sin)),
        ("cos", F32) => |r, x, m| map1(r, x, m, |a: f32| apply(a, x.flags, f64::cos)),
        ("tanh", F32) => |r, x, m| map1(r, x, m, |a: f32| apply(a, x.flags, f64::tanh)),
        ("rsqrt", F32) => |r, x, m| map1(r, x, m, |a: f32| apply(a, x.flags, inverse_root)),
        ("rcp", F32) => |r, x, m| map1(r, x, m, |a: f32| apply(a, x.flags, f64::recip)),
        ("sqrt", F32) => |r, x, m| map1(r, x, m, |a: f32| apply(a, x.flags, f64::sqrt)),
        ("div", F32) if m.has("full") => {
            |r, x, m| map2(r, x, m, |a: f32, b: f32| divide(a, b, x.flags))
        }
        ("div", F32) => |r, x, m| {
            map2(r, x, m, |a: f32, b: f32| {
                divide_approximately(a, b, x.flags)
            })
        },
        ("rcp", F64) => |r, x, m| map1(r, x, m, |a: f64| upper(upper(a).recip())),
        ("rsqrt", F64) => |r, x, m| map1(r, x, m, |a: f64| upper(inverse_root(upper(a)))),
        _ => return halves(m, ty),
    };
    let operands = if m.name() == "div" { 3 } else { 2 };
    flagged(run, &vec![ty; operands], flags)
}

#[inline(always)]
fn apply(a: f32, flags: u32, f: impl Fn(f64) -> f64) -> f32 {
    finish(f(flush(a, flags).into()) as f32, flags)
}

/// `lg2` of a zero of either sign is minus infinity (9.7.3.20).
fn logarithm(a: f64) -> f64 {
    if a == 0.0 {
        f64::NEG_INFINITY
    } else {
        a.log2()
    }
}

/// `rsqrt` of -0 is minus infinity (9.7.3.17).
fn inverse_root(a: f64) -> f64 {
    match a == 0.0 {
        true => f64::INFINITY.copysign(a),
        false => 1.0 / a.sqrt(),
    }
}

fn divide(a: f32, b: f32, flags: u32) -> f32 {
    let [a, b] = [a, b].map(|x| f64::from(flush(x, flags)));
    finish((a / b) as f32, flags)
}

/// `div.approx` (9.7.3.8). A finite divisor whose magnitude is above 2^126 gives 0, or NaN if the dividend is infinite.
fn divide_approximately(a: f32, b: f32, flags: u32) -> f32 {
    let large = f64::from(b).abs() > 126f64.exp2() && b.is_finite();
    match large && !a.is_nan() {
        true if a.is_infinite() => canonical(f32::NAN),
        true => 0f32.copysign(a * b.signum()),
        false => divide(a, b, flags),
    }
}

/// The `f64` approximations use only the upper 32 bits of operand and result, and flush subnormals (9.7.3.14,
/// 9.7.3.18).
fn upper(a: f64) -> f64 {
    let a = if a.is_subnormal() {
        0f64.copysign(a)
    } else {
        a
    };
    f64::from_bits(a.to_bits() >> 32 << 32)
}

fn halves(m: &Mods, ty: Type) -> Option<Alu> {
    let run: Run = match (m.name(), ty) {
        ("ex2", Type::F16) => |r, x, m| {
            map1(r, x, m, |a: f16| {
                f16::from_f64(power16(a.to_f64(), x.flags))
            })
        },
        ("ex2", Type::F16x2) => |r, x, m| {
            map1(r, x, m, |a: [f16; 2]| {
                a.map(|v| f16::from_f64(power16(v.to_f64(), x.flags)))
            })
        },
        ("ex2", Type::Bf16) => |r, x, m| map1(r, x, m, |a: bf16| bf16::from_f64(a.to_f64().exp2())),
        ("ex2", Type::Bf16x2) => |r, x, m| {
            map1(r, x, m, |a: [bf16; 2]| {
                a.map(|v| bf16::from_f64(v.to_f64().exp2()))
            })
        },
        ("tanh", Type::F16) => |r, x, m| map1(r, x, m, |a: f16| f16::from_f64(a.to_f64().tanh())),
        ("tanh", Type::F16x2) => |r, x, m| {
            map1(r, x, m, |a: [f16; 2]| {
                a.map(|v| f16::from_f64(v.to_f64().tanh()))
            })
        },
        ("tanh", Type::Bf16) => {
            |r, x, m| map1(r, x, m, |a: bf16| bf16::from_f64(a.to_f64().tanh()))
        }
        ("tanh", Type::Bf16x2) => |r, x, m| {
            map1(r, x, m, |a: [bf16; 2]| {
                a.map(|v| bf16::from_f64(v.to_f64().tanh()))
            })
        },
        _ => return None,
    };
    flagged(run, &[ty; 2], modifiers(m))
}

/// `ex2.approx.ftz.f16` flushes subnormal results to zero.
fn power16(a: f64, flags: u32) -> f64 {
    let y = a.exp2();
    match flags & FTZ != 0 && a * LN_2 < -14.0 * LN_2 {
        true => 0.0,
        false => y,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::regs::{Args, LANES, Regs};

    fn apply_bits(opcode: &str, a: f32) -> u32 {
        let alu = decode(&Mods::new(opcode)).unwrap();
        let mut regs = Regs::garbage(2, 1, 1, 7);
        regs.words[0] = [a.to_bits(); LANES];
        (alu.run)(
            &mut regs,
            &Args {
                d: 1,
                flags: alu.flags,
                ..Args::default()
            },
            !0,
        );
        regs.words[1][0]
    }

    #[test]
    fn special_values_are_those_of_the_tables() {
        let (inf, nan) = (f32::INFINITY.to_bits(), 0x7fff_ffff);
        assert_eq!(
            apply_bits("rcp.approx.f32", -0.0),
            f32::NEG_INFINITY.to_bits()
        );
        assert_eq!(apply_bits("rcp.approx.ftz.f32", 1e-40), inf);
        assert_eq!(
            apply_bits("rsqrt.approx.f32", -0.0),
            f32::NEG_INFINITY.to_bits()
        );
        assert_eq!(apply_bits("rsqrt.approx.f32", -1.0), nan);
        assert_eq!(
            apply_bits("lg2.approx.f32", -0.0),
            f32::NEG_INFINITY.to_bits()
        );
        assert_eq!(apply_bits("lg2.approx.f32", -1.0), nan);
        assert_eq!(apply_bits("ex2.approx.f32", f32::NEG_INFINITY), 0);
        assert_eq!(apply_bits("ex2.approx.ftz.f32", -127.0), 0);
        assert_eq!(apply_bits("ex2.approx.f32", -127.0), 0x0040_0000);
        assert_eq!(apply_bits("sin.approx.f32", f32::INFINITY), nan);
        assert_eq!(apply_bits("sqrt.approx.f32", -0.0), (-0f32).to_bits());
    }
}
