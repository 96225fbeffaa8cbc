//! Integer arithmetic (PTX ISA 9.7.1) and extended precision (9.7.2).

use super::{Alu, Mods, alu, flagged};
use crate::ptx::regs::{Args, Regs, Run, lanes, map1, map2, map3, map4};
use crate::ptx::types::Type::{self, B, S, U};

/// Selects the function for the integer type: unsigned or signed, with 16, 32 or 64 bits.
macro_rules! by_type {
    ($ty:expr, $map:ident, |$($x:ident),+| $body:expr) => {{
        let run: Run = match $ty {
            U(16) | B(16) => |r, x, m| $map(r, x, m, |$($x: u16),+| -> u16 { $body }),
            U(32) | B(32) => |r, x, m| $map(r, x, m, |$($x: u32),+| -> u32 { $body }),
            U(64) | B(64) => |r, x, m| $map(r, x, m, |$($x: u64),+| -> u64 { $body }),
            S(16) => |r, x, m| $map(r, x, m, |$($x: i16),+| -> i16 { $body }),
            S(32) => |r, x, m| $map(r, x, m, |$($x: i32),+| -> i32 { $body }),
            S(64) => |r, x, m| $map(r, x, m, |$($x: i64),+| -> i64 { $body }),
            _ => return None,
        };
        Some(run)
    }};
}

/// Decodes an instruction. Returns `None` if this file does not implement the instruction.
pub(super) fn decode(m: &Mods) -> Option<Alu> {
    if matches!(m.parts.last(), Some(&"u16x2" | &"s16x2")) {
        return pairs(m);
    }
    let ty = m.ty()?;
    if m.name() == "bfind" || m.name() == "clz" || m.name() == "popc" {
        return counting(m, ty);
    }
    if !ty.integer() {
        return None;
    }
    let same = |run: Run, n: usize| alu(run, &vec![ty; n]);
    match (m.name(), m.has("cc"), m.has("sat")) {
        ("add", false, false) => same(by_type!(ty, map2, |a, b| a.wrapping_add(b))?, 3),
        ("sub", false, false) => same(by_type!(ty, map2, |a, b| a.wrapping_sub(b))?, 3),
        ("add", false, true) => same(|r, x, m| map2(r, x, m, i32::saturating_add), 3),
        ("sub", false, true) => same(|r, x, m| map2(r, x, m, i32::saturating_sub), 3),
        ("add" | "addc" | "sub" | "subc", ..) => carried(m, ty),
        ("mul" | "mad" | "madc", ..) => products(m, ty),
        ("mul24" | "mad24", ..) => products24(m, ty),
        // ISA 9.7.1.8: the result of a division by zero is unspecified. GPUs return all bits set.
        ("div", ..) => same(
            by_type!(ty, map2, |a, b| a.checked_div(b).unwrap_or(if b == 0 {
                !0
            } else {
                a
            }))?,
            3,
        ),
        ("rem", ..) => same(
            by_type!(ty, map2, |a, b| a.checked_rem(b).unwrap_or(if b == 0 {
                a
            } else {
                0
            }))?,
            3,
        ),
        ("min", ..) => same(by_type!(ty, map2, |a, b| a.min(b))?, 3),
        ("max", ..) => same(by_type!(ty, map2, |a, b| a.max(b))?, 3),
        ("sad", ..) => same(
            by_type!(ty, map3, |a, b, c| (a.max(b).wrapping_sub(a.min(b)))
                .wrapping_add(c))?,
            4,
        ),
        ("neg", ..) => same(by_type!(ty, map1, |a| a.wrapping_neg())?, 2),
        ("abs", ..) => match ty {
            S(16) => same(|r, x, m| map1(r, x, m, i16::wrapping_abs), 2),
            S(32) => same(|r, x, m| map1(r, x, m, i32::wrapping_abs), 2),
            S(64) => same(|r, x, m| map1(r, x, m, i64::wrapping_abs), 2),
            _ => None,
        },
        _ => fields(m, ty),
    }
}

/// Instructions on pairs of 16-bit integers (9.7.1.1, 9.7.1.13 and 9.7.1.14).
fn pairs(m: &Mods) -> Option<Alu> {
    let run: Run = match (m.name(), *m.parts.last()?) {
        ("add", _) => |r, x, m| {
            map2(r, x, m, |a: [u16; 2], b: [u16; 2]| {
                [0, 1].map(|i| a[i].wrapping_add(b[i]))
            })
        },
        ("min", "u16x2") => |r, x, m| {
            map2(r, x, m, |a: [u16; 2], b: [u16; 2]| {
                [0, 1].map(|i| a[i].min(b[i]))
            })
        },
        ("max", "u16x2") => |r, x, m| {
            map2(r, x, m, |a: [u16; 2], b: [u16; 2]| {
                [0, 1].map(|i| a[i].max(b[i]))
            })
        },
        ("min", _) => |r, x, m| {
            map2(r, x, m, |a: [i16; 2], b: [i16; 2]| {
                [0, 1].map(|i| a[i].min(b[i]))
            })
        },
        ("max", _) => |r, x, m| {
            map2(r, x, m, |a: [i16; 2], b: [i16; 2]| {
                [0, 1].map(|i| a[i].max(b[i]))
            })
        },
        _ => return None,
    };
    match m.has("relu") || m.has("sat") {
        true => None,
        false => alu(run, &[B(32); 3]),
    }
}

/// `popc`, `clz` and `bfind` (9.7.1.15 to 9.7.1.17). The result has 32 bits.
fn counting(m: &Mods, ty: Type) -> Option<Alu> {
    let shift = u32::from(m.has("shiftamt"));
    let run: Run = match (m.name(), ty) {
        ("popc", B(32)) => |r, x, m| map1(r, x, m, u32::count_ones),
        ("popc", B(64)) => |r, x, m| map1(r, x, m, u64::count_ones),
        ("clz", B(32)) => |r, x, m| map1(r, x, m, u32::leading_zeros),
        ("clz", B(64)) => |r, x, m| map1(r, x, m, u64::leading_zeros),
        ("bfind", U(32)) => |r, x, m| map1(r, x, m, |a: u32| found(u64::from(a), 32, x.flags)),
        ("bfind", U(64)) => |r, x, m| map1(r, x, m, |a: u64| found(a, 64, x.flags)),
        // For a negative number, the result is the position of the most significant bit that differs from the sign bit.
        ("bfind", S(32)) => |r, x, m| {
            map1(r, x, m, |a: i32| {
                found(u64::from((a ^ a >> 31) as u32), 32, x.flags)
            })
        },
        ("bfind", S(64)) => {
            |r, x, m| map1(r, x, m, |a: i64| found((a ^ a >> 63) as u64, 64, x.flags))
        }
        _ => return None,
    };
    flagged(run, &[U(32), ty], shift)
}

fn found(value: u64, bits: u32, shift: u32) -> u32 {
    match (value, shift) {
        (0, _) => !0,
        (_, 0) => value.ilog2(),
        _ => bits - 1 - value.ilog2(),
    }
}

fn carried(m: &Mods, ty: Type) -> Option<Alu> {
    if !matches!(ty.bits(), 32 | 64) {
        return None;
    }
    let subtract = m.name().starts_with("sub");
    let uses = m.name().ends_with('c');
    let sets = m.has("cc");
    let run: Run = match ty.wide() {
        false => |r, x, m| extended(r, x, m, 32),
        true => |r, x, m| extended(r, x, m, 64),
    };
    let flags = u32::from(subtract) | u32::from(uses) << 1 | u32::from(sets) << 2;
    flagged(run, &[ty; 3], flags)
}

/// `add.cc`, `addc`, `sub.cc` and `subc` (9.7.2). For subtractions, the carry is the borrow.
fn extended(r: &mut Regs, x: &Args, mask: u32, bits: u32) {
    let (subtract, uses, sets) = (x.flags & 1 != 0, x.flags & 2 != 0, x.flags & 4 != 0);
    for lane in lanes(mask) {
        let wide = bits == 64;
        let fetch = |i: u32| match wide {
            true => u128::from(r.longs[i as usize][lane]),
            false => u128::from(r.words[i as usize][lane]),
        };
        let carry = u128::from(uses && r.carry >> lane & 1 != 0);
        let (a, b) = (fetch(x.a), fetch(x.b));
        let value = match subtract {
            true => a.wrapping_sub(b).wrapping_sub(carry),
            false => a + b + carry,
        };
        finish(r, x.d, lane, value, bits, sets);
    }
}

fn finish(r: &mut Regs, d: u32, lane: usize, value: u128, bits: u32, sets: bool) {
    match bits {
        64 => r.longs[d as usize][lane] = value as u64,
        _ => r.words[d as usize][lane] = value as u32,
    }
    if sets {
        r.carry = r.carry & !(1 << lane) | u32::from(value >> bits & 1 != 0) << lane;
    }
}

fn products(m: &Mods, ty: Type) -> Option<Alu> {
    let add = m.name() != "mul";
    if m.has("cc") || m.name() == "madc" {
        return carried_products(m, ty);
    }
    if m.has("wide") {
        return wide_products(ty, add);
    }
    if m.has("sat") {
        return None;
    }
    let run: Run = match (m.has("hi"), add) {
        (false, false) => by_type!(ty, map2, |a, b| a.wrapping_mul(b))?,
        (false, true) => by_type!(ty, map3, |a, b, c| a.wrapping_mul(b).wrapping_add(c))?,
        (true, false) => match ty {
            U(16) => |r, x, m| {
                map2(r, x, m, |a: u16, b: u16| {
                    ((u32::from(a) * u32::from(b)) >> 16) as u16
                })
            },
            S(16) => |r, x, m| {
                map2(r, x, m, |a: i16, b: i16| {
                    ((i32::from(a) * i32::from(b)) >> 16) as i16
                })
            },
            U(32) => |r, x, m| map2(r, x, m, high_u32),
            S(32) => |r, x, m| map2(r, x, m, high_s32),
            U(64) => |r, x, m| map2(r, x, m, high_u64),
            S(64) => |r, x, m| map2(r, x, m, high_s64),
            _ => return None,
        },
        (true, true) => match ty {
            U(32) => |r, x, m| map3(r, x, m, |a, b, c: u32| high_u32(a, b).wrapping_add(c)),
            S(32) => |r, x, m| map3(r, x, m, |a, b, c: i32| high_s32(a, b).wrapping_add(c)),
            U(64) => |r, x, m| map3(r, x, m, |a, b, c: u64| high_u64(a, b).wrapping_add(c)),
            S(64) => |r, x, m| map3(r, x, m, |a, b, c: i64| high_s64(a, b).wrapping_add(c)),
            _ => return None,
        },
    };
    alu(run, &vec![ty; 3 + usize::from(add)])
}

fn high_u32(a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}

fn high_s32(a: i32, b: i32) -> i32 {
    ((i64::from(a) * i64::from(b)) >> 32) as i32
}

fn high_u64(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

fn high_s64(a: i64, b: i64) -> i64 {
    ((i128::from(a) * i128::from(b)) >> 64) as i64
}

fn wide_products(ty: Type, add: bool) -> Option<Alu> {
    let (run, wide): (Run, Type) = match (ty, add) {
        (U(16), false) => (
            |r, x, m| map2(r, x, m, |a: u16, b: u16| u32::from(a) * u32::from(b)),
            U(32),
        ),
        (S(16), false) => (
            |r, x, m| map2(r, x, m, |a: i16, b: i16| i32::from(a) * i32::from(b)),
            S(32),
        ),
        (U(32), false) => (
            |r, x, m| map2(r, x, m, |a: u32, b: u32| u64::from(a) * u64::from(b)),
            U(64),
        ),
        (S(32), false) => (
            |r, x, m| map2(r, x, m, |a: i32, b: i32| i64::from(a) * i64::from(b)),
            S(64),
        ),
        (U(16), true) => (
            |r, x, m| {
                map3(r, x, m, |a: u16, b: u16, c: u32| {
                    (u32::from(a) * u32::from(b)).wrapping_add(c)
                })
            },
            U(32),
        ),
        (S(16), true) => (
            |r, x, m| {
                map3(r, x, m, |a: i16, b: i16, c: i32| {
                    (i32::from(a) * i32::from(b)).wrapping_add(c)
                })
            },
            S(32),
        ),
        (U(32), true) => (
            |r, x, m| {
                map3(r, x, m, |a: u32, b: u32, c: u64| {
                    (u64::from(a) * u64::from(b)).wrapping_add(c)
                })
            },
            U(64),
        ),
        (S(32), true) => (
            |r, x, m| {
                map3(r, x, m, |a: i32, b: i32, c: i64| {
                    (i64::from(a) * i64::from(b)).wrapping_add(c)
                })
            },
            S(64),
        ),
        _ => return None,
    };
    match add {
        false => alu(run, &[wide, ty, ty]),
        true => alu(run, &[wide, ty, ty, wide]),
    }
}

/// `mad.lo.cc`, `madc.hi` and similar instructions (9.7.2.5).
fn carried_products(m: &Mods, ty: Type) -> Option<Alu> {
    if !matches!(ty, U(32) | U(64) | S(32) | S(64)) {
        return None;
    }
    let run: Run = |r, x, mask| {
        let (wide, signed, high) = (x.flags & 8 != 0, x.flags & 16 != 0, x.flags & 1 != 0);
        let bits = if wide { 64 } else { 32 };
        for lane in lanes(mask) {
            let fetch = |i: u32| match (wide, signed) {
                (true, false) => i128::from(r.longs[i as usize][lane]),
                (true, true) => i128::from(r.longs[i as usize][lane] as i64),
                (false, false) => i128::from(r.words[i as usize][lane]),
                (false, true) => i128::from(r.words[i as usize][lane] as i32),
            };
            let product = fetch(x.a).wrapping_mul(fetch(x.b)) as u128;
            let part = if high { product >> bits } else { product } & ((1 << bits) - 1);
            let c = fetch(x.c) as u128 & ((1 << bits) - 1);
            let carry = u128::from(x.flags & 2 != 0 && r.carry >> lane & 1 != 0);
            finish(r, x.d, lane, part + c + carry, bits, x.flags & 4 != 0);
        }
    };
    let flags = u32::from(m.has("hi"))
        | u32::from(m.name() == "madc") << 1
        | u32::from(m.has("cc")) << 2
        | u32::from(ty.wide()) << 3
        | u32::from(ty.signed()) << 4;
    flagged(run, &[ty; 4], flags)
}

/// `mul24` and `mad24` (9.7.1.5). The factors have 24 bits, and `.hi` selects bits 47 to 16 of the product.
fn products24(m: &Mods, ty: Type) -> Option<Alu> {
    let run: Run = match ty {
        U(32) => |r, x, m| {
            map3(r, x, m, |a: u32, b: u32, c: u32| {
                let product = u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff);
                ((product >> (x.flags & 16)) as u32).wrapping_add(if x.flags & 1 != 0 {
                    c
                } else {
                    0
                })
            })
        },
        S(32) => |r, x, m| {
            map3(r, x, m, |a: i32, b: i32, c: i32| {
                let product = i64::from(a << 8 >> 8) * i64::from(b << 8 >> 8);
                ((product >> (x.flags & 16)) as i32).wrapping_add(if x.flags & 1 != 0 {
                    c
                } else {
                    0
                })
            })
        },
        _ => return None,
    };
    let add = m.name() == "mad24";
    let flags = u32::from(add) | if m.has("hi") { 16 } else { 0 };
    flagged(run, &vec![ty; 3 + usize::from(add)], flags)
}

/// Bit fields (9.7.1.18 to 9.7.1.22).
fn fields(m: &Mods, ty: Type) -> Option<Alu> {
    let (run, types): (Run, Vec<Type>) = match (m.name(), ty) {
        ("brev", B(32)) => (|r, x, m| map1(r, x, m, u32::reverse_bits), vec![ty; 2]),
        ("brev", B(64)) => (|r, x, m| map1(r, x, m, u64::reverse_bits), vec![ty; 2]),
        ("bfe", U(32) | S(32)) => (
            |r, x, m| {
                map3(r, x, m, |a: u32, b: u32, c: u32| {
                    extract(a.into(), b, c, 32, x.flags) as u32
                })
            },
            vec![ty, ty, U(32), U(32)],
        ),
        ("bfe", U(64) | S(64)) => (
            |r, x, m| {
                map3(r, x, m, |a: u64, b: u32, c: u32| {
                    extract(a, b, c, 64, x.flags)
                })
            },
            vec![ty, ty, U(32), U(32)],
        ),
        ("bfi", B(32)) => (
            |r, x, m| {
                map4(r, x, m, |a: u32, b: u32, p: u32, n: u32| {
                    insert(a.into(), b.into(), p, n) as u32
                })
            },
            vec![ty, ty, ty, U(32), U(32)],
        ),
        ("bfi", B(64)) => (
            |r, x, m| map4(r, x, m, insert),
            vec![ty, ty, ty, U(32), U(32)],
        ),
        ("szext", U(32) | S(32)) => (
            |r, x, m| map2(r, x, m, |a: u32, n: u32| size_extend(a, n, x.flags)),
            vec![ty, ty, U(32)],
        ),
        ("bmsk", B(32)) => (
            |r, x, m| map2(r, x, m, |a, n| bit_mask(a, n, x.flags)),
            vec![ty; 3],
        ),
        _ => return None,
    };
    let wrap = m.has("wrap");
    flagged(run, &types, u32::from(ty.signed()) | u32::from(wrap) << 1)
}

/// `bfe` (9.7.1.19). The bits above the field or above `a` repeat the sign bit.
fn extract(a: u64, pos: u32, len: u32, bits: u32, signed: u32) -> u64 {
    let (pos, len) = (pos & 0xff, len & 0xff);
    let top = bits - 1;
    let sign = signed & 1 != 0 && len != 0 && a >> (pos + len - 1).min(top) & 1 != 0;
    let field = if pos < bits { a >> pos } else { 0 };
    let kept = len.min(bits.saturating_sub(pos));
    let mask = if kept >= 64 { !0 } else { (1u64 << kept) - 1 };
    field & mask | if sign { !mask } else { 0 }
}

/// `bfi` (9.7.1.20) inserts `a` into `b`.
fn insert(a: u64, b: u64, pos: u32, len: u32) -> u64 {
    let (pos, len) = (pos & 0xff, len & 0xff);
    if pos >= 64 {
        return b;
    }
    let mask = if len >= 64 { !0 } else { (1u64 << len) - 1 } << pos;
    b & !mask | a << pos & mask
}

/// `szext` (9.7.1.21).
fn size_extend(a: u32, n: u32, flags: u32) -> u32 {
    let n = if flags & 2 != 0 { n & 31 } else { n };
    match (n, flags & 1 != 0) {
        (0, _) => 0,
        (32.., _) => a,
        (_, false) => a & ((1 << n) - 1),
        (_, true) => ((a << (32 - n)) as i32 >> (32 - n)) as u32,
    }
}

/// `bmsk` (9.7.1.22).
fn bit_mask(a: u32, n: u32, flags: u32) -> u32 {
    let (a, n) = if flags & 2 != 0 {
        (a & 31, n & 31)
    } else {
        (a.min(32), n.min(32))
    };
    ((((1u64 << n) - 1) << a) & 0xffff_ffff) as u32
}
