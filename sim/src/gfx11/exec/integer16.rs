//! Arithmetic and logic on 16-bit integers.
//!
//! AMD, "RDNA3 Instruction Set Architecture", the pseudo-code of each instruction in VOP1 and VOP3.

use super::Handler;
use super::vector::{map1, map2, map3};
use crate::gfx11::isa::instruction::Vector;
use crate::gfx11::isa::vector::VectorOp;
use crate::gfx11::wave::{Wave, merge};

#[inline(always)]
fn one(w: &mut Wave, i: &Vector, f: impl Fn(u16) -> u16) {
    let a = w.b16(i, 0);
    w.set_b16(i, &map1(&a, |a| u32::from(f(a as u16))));
}

#[inline(always)]
fn two(w: &mut Wave, i: &Vector, f: impl Fn(u16, u16) -> u16) {
    let (a, b) = (w.b16(i, 0), w.b16(i, 1));
    w.set_b16(i, &map2(&a, &b, |a, b| u32::from(f(a as u16, b as u16))));
}

#[inline(always)]
fn three(w: &mut Wave, i: &Vector, f: impl Fn(u16, u16, u16) -> u16) {
    let (a, b, c) = (w.b16(i, 0), w.b16(i, 1), w.b16(i, 2));
    w.set_b16(
        i,
        &map3(&a, &b, &c, |a, b, c| {
            u32::from(f(a as u16, b as u16, c as u16))
        }),
    );
}

fn signed(f: impl Fn(i16, i16) -> i16) -> impl Fn(u16, u16) -> u16 {
    move |a, b| f(a as i16, b as i16) as u16
}

fn med3<T: Ord>(a: T, b: T, c: T) -> T {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    low.max(high.min(c))
}

/// The function that executes an instruction, or `None` if this file does not implement the instruction.
pub(super) fn handler(op: VectorOp) -> Option<Handler> {
    use VectorOp::*;
    Some(match op {
        MovB16 => |w, i| one(w, i, |a| a),
        NotB16 => |w, i| one(w, i, |a| !a),
        CndmaskB16 => select,
        AndB16 => |w, i| two(w, i, |a, b| a & b),
        OrB16 => |w, i| two(w, i, |a, b| a | b),
        XorB16 => |w, i| two(w, i, |a, b| a ^ b),
        AddNcU16 => |w, i| match i.mods.clamp {
            true => two(w, i, u16::saturating_add),
            false => two(w, i, u16::wrapping_add),
        },
        SubNcU16 => |w, i| match i.mods.clamp {
            true => two(w, i, u16::saturating_sub),
            false => two(w, i, u16::wrapping_sub),
        },
        AddNcI16 => |w, i| match i.mods.clamp {
            true => two(w, i, signed(i16::saturating_add)),
            false => two(w, i, u16::wrapping_add),
        },
        SubNcI16 => |w, i| match i.mods.clamp {
            true => two(w, i, signed(i16::saturating_sub)),
            false => two(w, i, u16::wrapping_sub),
        },
        MulLoU16 => |w, i| two(w, i, u16::wrapping_mul),
        MinU16 => |w, i| two(w, i, u16::min),
        MaxU16 => |w, i| two(w, i, u16::max),
        MinI16 => |w, i| two(w, i, signed(i16::min)),
        MaxI16 => |w, i| two(w, i, signed(i16::max)),
        LshlrevB16 => |w, i| two(w, i, |a, b| b << (a & 15)),
        LshrrevB16 => |w, i| two(w, i, |a, b| b >> (a & 15)),
        AshrrevI16 => |w, i| two(w, i, |a, b| (b as i16 >> (a & 15)) as u16),
        MadU16 | MadI16 => |w, i| three(w, i, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        Min3U16 => |w, i| three(w, i, |a, b, c| a.min(b).min(c)),
        Max3U16 => |w, i| three(w, i, |a, b, c| a.max(b).max(c)),
        Med3U16 => |w, i| three(w, i, med3),
        Min3I16 => |w, i| {
            three(w, i, |a, b, c| {
                (a as i16).min(b as i16).min(c as i16) as u16
            })
        },
        Max3I16 => |w, i| {
            three(w, i, |a, b, c| {
                (a as i16).max(b as i16).max(c as i16) as u16
            })
        },
        Med3I16 => |w, i| three(w, i, |a, b, c| med3(a as i16, b as i16, c as i16) as u16),
        MadU32U16 => |w, i| multiply_add32(w, i, |x| x),
        MadI32I16 => |w, i| multiply_add32(w, i, |x| x as i16 as i32 as u32),
        _ => return None,
    })
}

/// `v_cndmask_b16`: the second source in the lanes of a mask, and the first one in the others.
fn select(w: &mut Wave, i: &Vector) {
    let mask = w.scalar32(i.src[2]);
    let (mut a, b) = (w.b16(i, 0), w.b16(i, 1));
    merge(&mut a, &b, mask);
    w.set_b16(i, &a);
}

/// The product of two 16-bit sources, which `wide` extends to 32 bits, plus a third source of 32 bits.
fn multiply_add32(w: &mut Wave, i: &Vector, wide: impl Fn(u32) -> u32) {
    let (a, b, c) = (w.b16(i, 0), w.b16(i, 1), w.b32(i, 2));
    let sum = |a, b, c| wide(a).wrapping_mul(wide(b)).wrapping_add(c);
    w.set_b32(i, &map3(&a, &b, &c, sum));
}
