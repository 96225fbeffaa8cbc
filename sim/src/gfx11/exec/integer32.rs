//! Arithmetic and logic on 32-bit integers.
//!
//! AMD, "RDNA3 Instruction Set Architecture", the pseudo-code of each instruction in VOP1, VOP2 and VOP3.

use super::Handler;
use super::vector::{map1, map2, map3};
use crate::gfx11::isa::instruction::Vector;
use crate::gfx11::isa::vector::VectorOp;
use crate::gfx11::wave::Wave;

#[inline(always)]
fn one(w: &mut Wave, i: &Vector, f: impl Fn(u32) -> u32) {
    let a = w.b32(i, 0);
    w.set_b32(i, &map1(&a, f));
}

#[inline(always)]
fn two(w: &mut Wave, i: &Vector, f: impl Fn(u32, u32) -> u32) {
    let (a, b) = (w.b32(i, 0), w.b32(i, 1));
    w.set_b32(i, &map2(&a, &b, f));
}

#[inline(always)]
fn three(w: &mut Wave, i: &Vector, f: impl Fn(u32, u32, u32) -> u32) {
    let (a, b, c) = (w.b32(i, 0), w.b32(i, 1), w.b32(i, 2));
    w.set_b32(i, &map3(&a, &b, &c, f));
}

/// An addition or subtraction with a carry output, and with a carry input if `takes` is true.
#[inline(always)]
fn carry(w: &mut Wave, i: &Vector, takes: bool, f: impl Fn(u32, u32, u32) -> u64) {
    let (a, b) = (w.b32(i, 0), w.b32(i, 1));
    let carries = if takes { w.scalar32(i.src[2]) } else { 0 };
    let mut sum = [0; 32];
    let mut out = 0;
    for lane in 0..32 {
        let wide = f(a[lane], b[lane], carries >> lane & 1);
        sum[lane] = wide as u32;
        out |= ((wide >> 32) as u32 & 1) << lane;
    }
    w.set_b32(i, &sum);
    w.set_mask(i.sdst, out);
}

/// The low 24 bits, sign-extended.
fn i24(x: u32) -> i32 {
    (x << 8) as i32 >> 8
}

/// The low 24 bits.
fn u24(x: u32) -> u32 {
    x & 0x00ff_ffff
}

fn med3<T: Ord>(a: T, b: T, c: T) -> T {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    low.max(high.min(c))
}

/// The function that executes an instruction, or `None` if this file does not implement the instruction.
pub(super) fn handler(op: VectorOp) -> Option<Handler> {
    use VectorOp::*;
    Some(match op {
        MovB32 => |w, i| {
            // The only modifiers that a move can have are those of floats.
            let a = if i.modified { w.f32(i, 0) } else { w.b32(i, 0) };
            w.set_b32(i, &a);
        },
        NotB32 => |w, i| one(w, i, |a| !a),
        BfrevB32 => |w, i| one(w, i, u32::reverse_bits),
        ClzI32U32 => |w, i| one(w, i, |a| if a == 0 { u32::MAX } else { a.leading_zeros() }),
        CtzI32B32 => |w, i| one(w, i, |a| if a == 0 { u32::MAX } else { a.trailing_zeros() }),
        ClsI32 => |w, i| one(w, i, |a| leading_signs(a as i32)),
        AndB32 => |w, i| two(w, i, |a, b| a & b),
        OrB32 => |w, i| two(w, i, |a, b| a | b),
        XorB32 => |w, i| two(w, i, |a, b| a ^ b),
        XnorB32 => |w, i| two(w, i, |a, b| !(a ^ b)),
        LshlrevB32 => |w, i| two(w, i, |a, b| b << (a & 31)),
        LshrrevB32 => |w, i| two(w, i, |a, b| b >> (a & 31)),
        AshrrevI32 => |w, i| two(w, i, |a, b| (b as i32 >> (a & 31)) as u32),
        MinI32 => |w, i| two(w, i, |a, b| (a as i32).min(b as i32) as u32),
        MaxI32 => |w, i| two(w, i, |a, b| (a as i32).max(b as i32) as u32),
        MinU32 => |w, i| two(w, i, u32::min),
        MaxU32 => |w, i| two(w, i, u32::max),
        BfmB32 => |w, i| two(w, i, |a, b| ((1 << (a & 31)) - 1) << (b & 31)),
        BcntU32B32 => |w, i| two(w, i, |a, b| a.count_ones().wrapping_add(b)),
        MulLoU32 => |w, i| two(w, i, u32::wrapping_mul),
        MulHiU32 => |w, i| two(w, i, |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32),
        MulHiI32 => |w, i| {
            two(w, i, |a, b| {
                ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32
            })
        },
        MulI32I24 => |w, i| two(w, i, |a, b| i24(a).wrapping_mul(i24(b)) as u32),
        MulU32U24 => |w, i| two(w, i, |a, b| u24(a).wrapping_mul(u24(b))),
        MulHiI32I24 => |w, i| {
            two(w, i, |a, b| {
                ((i64::from(i24(a)) * i64::from(i24(b))) >> 32) as u32
            })
        },
        MulHiU32U24 => |w, i| {
            two(w, i, |a, b| {
                ((u64::from(u24(a)) * u64::from(u24(b))) >> 32) as u32
            })
        },
        CndmaskB32 => |w, i| {
            let mask = w.scalar32(i.src[2]);
            let (a, b) = if i.modified {
                (w.f32(i, 0), w.f32(i, 1))
            } else {
                (w.b32(i, 0), w.b32(i, 1))
            };
            let mut chosen = a;
            crate::gfx11::wave::merge(&mut chosen, &b, mask);
            w.set_b32(i, &chosen);
        },
        _ => return sums(op).or_else(|| ternary(op)),
    })
}

/// The number of leading bits that equal the sign bit, or -1 if all bits do.
fn leading_signs(x: i32) -> u32 {
    let same = (x ^ x >> 31).leading_zeros();
    if same == 32 { u32::MAX } else { same }
}

fn sums(op: VectorOp) -> Option<Handler> {
    use VectorOp::*;
    Some(match op {
        AddNcU32 => |w, i| match i.mods.clamp {
            true => two(w, i, u32::saturating_add),
            false => two(w, i, u32::wrapping_add),
        },
        SubNcU32 => |w, i| match i.mods.clamp {
            true => two(w, i, u32::saturating_sub),
            false => two(w, i, u32::wrapping_sub),
        },
        SubrevNcU32 => |w, i| match i.mods.clamp {
            true => two(w, i, |a, b| b.saturating_sub(a)),
            false => two(w, i, |a, b| b.wrapping_sub(a)),
        },
        AddNcI32 => |w, i| match i.mods.clamp {
            true => two(w, i, |a, b| (a as i32).saturating_add(b as i32) as u32),
            false => two(w, i, u32::wrapping_add),
        },
        SubNcI32 => |w, i| match i.mods.clamp {
            true => two(w, i, |a, b| (a as i32).saturating_sub(b as i32) as u32),
            false => two(w, i, u32::wrapping_sub),
        },
        AddCoU32 => |w, i| carry(w, i, false, |a, b, _| u64::from(a) + u64::from(b)),
        SubCoU32 => |w, i| {
            carry(w, i, false, |a, b, _| {
                u64::from(a).wrapping_sub(u64::from(b))
            })
        },
        SubrevCoU32 => |w, i| {
            carry(w, i, false, |a, b, _| {
                u64::from(b).wrapping_sub(u64::from(a))
            })
        },
        AddCoCiU32 => |w, i| {
            carry(w, i, true, |a, b, c| {
                u64::from(a) + u64::from(b) + u64::from(c)
            })
        },
        SubCoCiU32 => |w, i| carry(w, i, true, borrow),
        SubrevCoCiU32 => |w, i| carry(w, i, true, |a, b, c| borrow(b, a, c)),
        _ => return None,
    })
}

fn borrow(a: u32, b: u32, c: u32) -> u64 {
    u64::from(a)
        .wrapping_sub(u64::from(b))
        .wrapping_sub(u64::from(c))
}

fn ternary(op: VectorOp) -> Option<Handler> {
    use VectorOp::*;
    Some(match op {
        BfeU32 => |w, i| {
            three(w, i, |a, b, c| {
                a >> (b & 31) & ((1u64 << (c & 31)) - 1) as u32
            })
        },
        BfeI32 => |w, i| three(w, i, bfe_i32),
        BfiB32 => |w, i| three(w, i, |a, b, c| a & b | !a & c),
        AlignbitB32 => |w, i| {
            three(w, i, |a, b, c| {
                ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32
            })
        },
        AlignbyteB32 => |w, i| {
            three(w, i, |a, b, c| {
                ((u64::from(a) << 32 | u64::from(b)) >> (8 * (c & 3))) as u32
            })
        },
        PermB32 => |w, i| three(w, i, permute),
        Xor3B32 => |w, i| three(w, i, |a, b, c| a ^ b ^ c),
        Or3B32 => |w, i| three(w, i, |a, b, c| a | b | c),
        AndOrB32 => |w, i| three(w, i, |a, b, c| a & b | c),
        XadU32 => |w, i| three(w, i, |a, b, c| (a ^ b).wrapping_add(c)),
        LshlAddU32 => |w, i| three(w, i, |a, b, c| (a << (b & 31)).wrapping_add(c)),
        AddLshlU32 => |w, i| three(w, i, |a, b, c| a.wrapping_add(b) << (c & 31)),
        LshlOrB32 => |w, i| three(w, i, |a, b, c| a << (b & 31) | c),
        Add3U32 => |w, i| three(w, i, |a, b, c| a.wrapping_add(b).wrapping_add(c)),
        MadI32I24 => |w, i| {
            three(w, i, |a, b, c| {
                (i24(a).wrapping_mul(i24(b)) as u32).wrapping_add(c)
            })
        },
        MadU32U24 => |w, i| three(w, i, |a, b, c| u24(a).wrapping_mul(u24(b)).wrapping_add(c)),
        Min3I32 => |w, i| {
            three(w, i, |a, b, c| {
                (a as i32).min(b as i32).min(c as i32) as u32
            })
        },
        Max3I32 => |w, i| {
            three(w, i, |a, b, c| {
                (a as i32).max(b as i32).max(c as i32) as u32
            })
        },
        Min3U32 => |w, i| three(w, i, |a, b, c| a.min(b).min(c)),
        Max3U32 => |w, i| three(w, i, |a, b, c| a.max(b).max(c)),
        Med3I32 => |w, i| three(w, i, |a, b, c| med3(a as i32, b as i32, c as i32) as u32),
        Med3U32 => |w, i| three(w, i, med3),
        MaxminU32 => |w, i| three(w, i, |a, b, c| a.max(b).min(c)),
        MinmaxU32 => |w, i| three(w, i, |a, b, c| a.min(b).max(c)),
        MaxminI32 => |w, i| {
            three(w, i, |a, b, c| {
                (a as i32).max(b as i32).min(c as i32) as u32
            })
        },
        MinmaxI32 => |w, i| {
            three(w, i, |a, b, c| {
                (a as i32).min(b as i32).max(c as i32) as u32
            })
        },
        SadU8 => |w, i| {
            three(w, i, |a, b, c| {
                bytes(a, b).fold(c, |sum, (a, b)| sum.wrapping_add(a.abs_diff(b).into()))
            })
        },
        SadU32 => |w, i| three(w, i, |a, b, c| a.abs_diff(b).wrapping_add(c)),
        MbcntLoU32B32 => |w, i| mbcnt(w, i, |lane| (1u64 << lane) as u32 - 1),
        MbcntHiU32B32 => |w, i| mbcnt(w, i, |_| 0),
        _ => return None,
    })
}

fn bytes(a: u32, b: u32) -> impl Iterator<Item = (u8, u8)> {
    a.to_le_bytes().into_iter().zip(b.to_le_bytes())
}

/// Counts the set bits of a mask that belong to lower lanes, and adds the second operand.
fn mbcnt(w: &mut Wave, i: &Vector, below: impl Fn(u32) -> u32) {
    let (a, b) = (w.b32(i, 0), w.b32(i, 1));
    let mut count = [0; 32];
    for lane in 0..32 {
        count[lane] = (a[lane] & below(lane as u32))
            .count_ones()
            .wrapping_add(b[lane]);
    }
    w.set_b32(i, &count);
}

fn bfe_i32(a: u32, b: u32, c: u32) -> u32 {
    let (offset, width) = (b & 31, c & 31);
    match width {
        0 => 0,
        _ => ((i64::from(a as i32) >> offset) << (64 - width) >> (64 - width)) as u32,
    }
}

/// `v_perm_b32`: each byte of the selector selects one of the eight operand bytes, or a constant.
fn permute(a: u32, b: u32, selector: u32) -> u32 {
    let bytes = (u64::from(a) << 32 | u64::from(b)).to_le_bytes();
    let sign = |byte: u8| if byte & 0x80 != 0 { 0xff } else { 0 };
    u32::from_le_bytes(selector.to_le_bytes().map(|select| match select {
        0..=7 => bytes[usize::from(select)],
        8 => sign(bytes[1]),
        9 => sign(bytes[3]),
        10 => sign(bytes[5]),
        11 => sign(bytes[7]),
        12 => 0,
        _ => 0xff,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_chosen_by_the_selector() {
        assert_eq!(permute(0x8877_6655, 0x4433_2211, 0x0700_0c0d), 0x8811_00ff);
        assert_eq!(permute(0x8000_0000, 0x0000_0000, 0x0b0a_0908), 0xff00_0000);
    }

    #[test]
    fn fields_are_extracted_with_their_sign() {
        assert_eq!(bfe_i32(0x0000_00f0, 4, 4), u32::MAX);
        assert_eq!(bfe_i32(0x0000_0070, 4, 4), 7);
        assert_eq!(bfe_i32(0x8000_0000, 31, 31), u32::MAX);
        assert_eq!(bfe_i32(5, 0, 0), 0);
    }

    #[test]
    fn middles_and_leading_signs_are_found() {
        assert_eq!((med3(1, 2, 3), med3(3, 1, 2), med3(2, 3, 1)), (2, 2, 2));
        assert_eq!(
            (leading_signs(0), leading_signs(-1), leading_signs(1)),
            (u32::MAX, u32::MAX, 31)
        );
        assert_eq!(i24(0x0080_0000), -0x0080_0000);
    }
}
