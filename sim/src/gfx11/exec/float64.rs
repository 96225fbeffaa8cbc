//! Arithmetic on 64-bit floats.
//!
//! AMD, "RDNA3 Instruction Set Architecture", the pseudo-code of each instruction in VOP1 and VOP3. On hardware,
//! `v_rcp_f64` and `v_rsq_f64` are approximations. The simulator uses 64-bit divisions and square roots, each of which
//! is rounded correctly.

use super::Handler;
use crate::gfx11::isa::instruction::Vector;
use crate::gfx11::isa::vector::VectorOp;
use crate::gfx11::wave::Wave;
use crate::lanes::each;

#[inline(always)]
fn one(w: &mut Wave, i: &Vector, f: impl Fn(f64) -> f64) {
    let a = w.f64(i, 0);
    w.set_f64(i, each(|lane| f(f64::from_bits(a[lane])).to_bits()));
}

#[inline(always)]
fn two(w: &mut Wave, i: &Vector, f: impl Fn(f64, f64) -> f64) {
    let (a, b) = (w.f64(i, 0), w.f64(i, 1));
    w.set_f64(
        i,
        each(|lane| f(f64::from_bits(a[lane]), f64::from_bits(b[lane])).to_bits()),
    );
}

fn fma(w: &mut Wave, i: &Vector) {
    let (a, b, c) = (w.f64(i, 0), w.f64(i, 1), w.f64(i, 2));
    let exec = w.mask(i);
    // Inactive lanes are skipped, because `mul_add` may be a slow library function on the host.
    let value = each(|lane| match exec >> lane & 1 {
        0 => 0,
        _ => f64::from_bits(a[lane])
            .mul_add(f64::from_bits(b[lane]), f64::from_bits(c[lane]))
            .to_bits(),
    });
    w.set_f64(i, value);
}

fn min(a: f64, b: f64) -> f64 {
    match () {
        () if a.is_nan() => b,
        () if b.is_nan() => a,
        () if a < b || a == b && a.is_sign_negative() => a,
        () => b,
    }
}

fn max(a: f64, b: f64) -> f64 {
    match () {
        () if a.is_nan() => b,
        () if b.is_nan() => a,
        () if a > b || a == b && !a.is_sign_negative() => a,
        () => b,
    }
}

/// The function that executes an instruction, or `None` if this file does not implement the instruction.
pub(super) fn handler(op: VectorOp) -> Option<Handler> {
    use VectorOp::*;
    Some(match op {
        AddF64 => |w, i| two(w, i, |a, b| a + b),
        MulF64 => |w, i| two(w, i, |a, b| a * b),
        MinF64 => |w, i| two(w, i, min),
        MaxF64 => |w, i| two(w, i, max),
        FmaF64 => fma,
        TruncF64 => |w, i| one(w, i, f64::trunc),
        CeilF64 => |w, i| one(w, i, f64::ceil),
        FloorF64 => |w, i| one(w, i, f64::floor),
        RndneF64 => |w, i| one(w, i, f64::round_ties_even),
        FractF64 => |w, i| {
            one(w, i, |a| {
                (a - a.floor()).min(f64::from_bits(0x3fef_ffff_ffff_ffff))
            })
        },
        RcpF64 => |w, i| one(w, i, |a| 1.0 / a),
        RsqF64 => |w, i| one(w, i, |a| 1.0 / a.sqrt()),
        SqrtF64 => |w, i| one(w, i, f64::sqrt),
        _ => return None,
    })
}
