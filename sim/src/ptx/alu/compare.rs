//! Comparison and selection (PTX ISA 9.7.6 and 9.7.7).

use half::{bf16, f16};

use super::{Alu, Mods, flagged};
use crate::lanes::each;
use crate::ptx::regs::{Args, LANES, Regs, Run, lanes, map2, map3, test2, write, write_pred};
use crate::ptx::types::Type::{self, B, Bf16, F16, F32, F64, Pred, S, U};

const AND: u32 = 1;
const OR: u32 = 2;
const XOR: u32 = 3;
const FTZ: u32 = 4;
/// The two bits of `flags` ([`ONES`]) that select what `set` writes if the comparison is true: 1.0 as `f32`, `f16` or
/// `bf16`. If neither bit is set, `set` writes a word of ones.
const ONE: u32 = 8;
const ONE_F16: u32 = 16;
const ONE_BF16: u32 = 24;
const ONES: u32 = 24;

/// Decodes an instruction. Returns `None` if this file does not implement the instruction.
pub(super) fn decode(m: &Mods) -> Option<Alu> {
    match m.name() {
        "setp" => set_predicate(m),
        "set" => set(m),
        "selp" => select(m.ty()?),
        _ => slct(m),
    }
}

macro_rules! lanewise {
    ($finish:ident, $cell:ty, |$a:ident, $b:ident, $x:ident| $test:expr) => {{
        let run: Run = |r: &mut Regs, $x: &Args, mask: u32| {
            let bits = test2(r, $x, |$a: $cell, $b: $cell| $test);
            $finish(r, $x, mask, bits);
        };
        run
    }};
    ($finish:ident, $cell:ty, not |$a:ident, $b:ident, $x:ident| $test:expr) => {{
        let run: Run = |r: &mut Regs, $x: &Args, mask: u32| {
            let bits = !test2(r, $x, |$a: $cell, $b: $cell| $test);
            $finish(r, $x, mask, bits);
        };
        run
    }};
}

/// The comparison of integers. `$finish` receives one result bit per lane.
macro_rules! integers {
    ($finish:ident, $op:expr, $cell:ty) => {
        match $op {
            "eq" => lanewise!($finish, $cell, |a, b, x| a == b),
            "ne" => lanewise!($finish, $cell, |a, b, x| a != b),
            "lt" | "lo" => lanewise!($finish, $cell, |a, b, x| a < b),
            "le" | "ls" => lanewise!($finish, $cell, |a, b, x| a <= b),
            "gt" | "hi" => lanewise!($finish, $cell, |a, b, x| a > b),
            "ge" | "hs" => lanewise!($finish, $cell, |a, b, x| a >= b),
            _ => return None,
        }
    };
}

/// The comparison of floats. The operators that end with `u` are true if an operand is NaN.
macro_rules! floats {
    ($finish:ident, $op:expr, $cell:ty, $see:expr) => {{
        match $op {
            "eq" => lanewise!($finish, $cell, |a, b, x| $see(a, x) == $see(b, x)),
            "ne" => lanewise!($finish, $cell, |a, b, x| $see(a, x) < $see(b, x)
                || $see(a, x) > $see(b, x)),
            "lt" => lanewise!($finish, $cell, |a, b, x| $see(a, x) < $see(b, x)),
            "le" => lanewise!($finish, $cell, |a, b, x| $see(a, x) <= $see(b, x)),
            "gt" => lanewise!($finish, $cell, |a, b, x| $see(a, x) > $see(b, x)),
            "ge" => lanewise!($finish, $cell, |a, b, x| $see(a, x) >= $see(b, x)),
            "equ" => lanewise!(
                $finish,
                $cell,
                not | a,
                b,
                x | $see(a, x) < $see(b, x) || $see(a, x) > $see(b, x)
            ),
            "neu" => lanewise!($finish, $cell, not | a, b, x | $see(a, x) == $see(b, x)),
            "ltu" => lanewise!($finish, $cell, not | a, b, x | $see(a, x) >= $see(b, x)),
            "leu" => lanewise!($finish, $cell, not | a, b, x | $see(a, x) > $see(b, x)),
            "gtu" => lanewise!($finish, $cell, not | a, b, x | $see(a, x) <= $see(b, x)),
            "geu" => lanewise!($finish, $cell, not | a, b, x | $see(a, x) < $see(b, x)),
            "num" => lanewise!($finish, $cell, not | a, b, x | a.is_nan() | b.is_nan()),
            "nan" => lanewise!($finish, $cell, |a, b, x| a.is_nan() | b.is_nan()),
            _ => return None,
        }
    }};
}

macro_rules! by_type {
    ($finish:ident, $op:expr, $ty:expr) => {
        match $ty {
            U(16) | B(16) => integers!($finish, $op, u16),
            U(32) | B(32) => integers!($finish, $op, u32),
            U(64) | B(64) => integers!($finish, $op, u64),
            S(16) => integers!($finish, $op, i16),
            S(32) => integers!($finish, $op, i32),
            S(64) => integers!($finish, $op, i64),
            F32 => floats!($finish, $op, f32, flushed),
            F64 => floats!($finish, $op, f64, unchanged),
            F16 => floats!($finish, $op, f16, unchanged),
            Bf16 => floats!($finish, $op, bf16, unchanged),
            _ => return None,
        }
    };
}

#[inline(always)]
fn flushed(a: f32, x: &Args) -> f32 {
    match x.flags & FTZ != 0 && a.is_subnormal() {
        true => 0.0,
        false => a,
    }
}

#[inline(always)]
fn unchanged<T>(a: T, _: &Args) -> T {
    a
}

fn combining(m: &Mods) -> u32 {
    let operator = match () {
        () if m.has("and") => AND,
        () if m.has("or") => OR,
        () if m.has("xor") => XOR,
        () => 0,
    };
    operator | if m.has("ftz") { FTZ } else { 0 }
}

#[inline(always)]
fn combined(r: &Regs, x: &Args, bits: u32) -> u32 {
    match x.flags & 3 {
        AND => bits & r.preds[x.c as usize],
        OR => bits | r.preds[x.c as usize],
        XOR => bits ^ r.preds[x.c as usize],
        _ => bits,
    }
}

/// Writes both destinations of `setp` (9.7.6.2). `q` is computed from the negated comparison.
#[inline(always)]
fn to_predicates(r: &mut Regs, x: &Args, mask: u32, bits: u32) {
    let (p, q) = (combined(r, x, bits), combined(r, x, !bits));
    write_pred(r, x.d, mask, p);
    write_pred(r, x.e, mask, q);
}

fn to_word(r: &mut Regs, x: &Args, mask: u32, bits: u32) {
    let bits = combined(r, x, bits);
    let yes = match x.flags & ONES {
        ONE => 1f32.to_bits(),
        ONE_F16 => 0x3c00,
        ONE_BF16 => 0x3f80,
        _ => !0,
    };
    for lane in lanes(mask) {
        r.words[x.d as usize][lane] = if bits >> lane & 1 != 0 { yes } else { 0 };
    }
}

fn set_predicate(m: &Mods) -> Option<Alu> {
    let ty = m.last_type()?;
    let run = by_type!(to_predicates, *m.parts.get(1)?, ty);
    let mut types = vec![Pred, ty, ty];
    let flags = combining(m);
    if flags & 3 != 0 {
        types.push(Pred);
    }
    flagged(run, &types, flags)
}

/// `set` (9.7.6.1).
fn set(m: &Mods) -> Option<Alu> {
    let (&[result, ty], op) = (&m.types()[..], *m.parts.get(1)?) else {
        return None;
    };
    if matches!(ty, Type::F16x2 | Type::Bf16x2) {
        return set_pairs(result, ty, op, m);
    }
    let one = match result {
        F32 => ONE,
        F16 => ONE_F16,
        Bf16 => ONE_BF16,
        B(32) | U(32) | S(32) => 0,
        _ => return None,
    };
    let run = by_type!(to_word, op, ty);
    let mut types = vec![result, ty, ty];
    let flags = combining(m);
    if flags & 3 != 0 {
        types.push(Pred);
    }
    flagged(run, &types, flags | one)
}

type Comparison = fn(f64, f64) -> bool;

/// The comparisons of floats, in the order of the index that [`set_pairs`] puts into the flags.
const COMPARISONS: [(&str, Comparison); 14] = [
    ("eq", |a, b| a == b),
    ("ne", |a, b| !unordered(a, b) && a != b),
    ("lt", |a, b| a < b),
    ("le", |a, b| a <= b),
    ("gt", |a, b| a > b),
    ("ge", |a, b| a >= b),
    ("equ", |a, b| unordered(a, b) || a == b),
    ("neu", |a, b| a != b),
    ("ltu", |a, b| unordered(a, b) || a < b),
    ("leu", |a, b| unordered(a, b) || a <= b),
    ("gtu", |a, b| unordered(a, b) || a > b),
    ("geu", |a, b| unordered(a, b) || a >= b),
    ("num", |a, b| !unordered(a, b)),
    ("nan", unordered),
];

fn unordered(a: f64, b: f64) -> bool {
    a.is_nan() || b.is_nan()
}
const COMPARISON: u32 = 8;

/// `set` of two 16-bit floats (9.7.6.1). Each half of the result is 1.0 or all ones if its comparison is true, and
/// otherwise 0.
fn set_pairs(result: Type, ty: Type, op: &str, m: &Mods) -> Option<Alu> {
    let index = COMPARISONS.iter().position(|(name, _)| *name == op)?;
    let one = match result {
        Type::F16x2 => ONE_F16,
        Type::Bf16x2 => ONE_BF16,
        U(32) | S(32) => 0,
        _ => return None,
    };
    if combining(m) != 0 {
        return None;
    }
    fn pair(a: [f64; 2], b: [f64; 2], flags: u32) -> [u16; 2] {
        let (_, holds) = COMPARISONS[(flags >> COMPARISON) as usize];
        let yes = match flags & ONES {
            ONE_F16 => 0x3c00,
            ONE_BF16 => 0x3f80,
            _ => 0xffff,
        };
        [0, 1].map(|i| if holds(a[i], b[i]) { yes } else { 0 })
    }
    let run: Run = match ty {
        Type::F16x2 => |r, x, m| {
            map2(r, x, m, |a: [f16; 2], b: [f16; 2]| {
                pair(a.map(f64::from), b.map(f64::from), x.flags)
            })
        },
        _ => |r, x, m| {
            map2(r, x, m, |a: [bf16; 2], b: [bf16; 2]| {
                pair(a.map(f64::from), b.map(f64::from), x.flags)
            })
        },
    };
    flagged(run, &[result, ty, ty], one | (index as u32) << COMPARISON)
}

/// `selp` (9.7.6.3).
fn select(ty: Type) -> Option<Alu> {
    let run: Run = match ty.wide() {
        false => |r, x, m| {
            let p = r.preds[x.c as usize];
            let (a, b) = (&r.words[x.a as usize], &r.words[x.b as usize]);
            let out: [_; LANES] = each(|lane| if p >> lane & 1 != 0 { a[lane] } else { b[lane] });
            write::<u32>(r, x.d, m, &out);
        },
        true => |r, x, m| {
            let p = r.preds[x.c as usize];
            let (a, b) = (&r.longs[x.a as usize], &r.longs[x.b as usize]);
            let out: [_; LANES] = each(|lane| if p >> lane & 1 != 0 { a[lane] } else { b[lane] });
            write::<u64>(r, x.d, m, &out);
        },
    };
    flagged(run, &[ty, ty, ty, Pred], 0)
}

/// `slct` (9.7.6.4) selects by the sign of `c`.
fn slct(m: &Mods) -> Option<Alu> {
    let &[ty, by] = &m.types()[..] else {
        return None;
    };
    let run: Run = match (ty.wide(), by) {
        (false, S(32)) => {
            |r, x, m| map3(r, x, m, |a: u32, b: u32, c: i32| if c >= 0 { a } else { b })
        }
        (true, S(32)) => {
            |r, x, m| map3(r, x, m, |a: u64, b: u64, c: i32| if c >= 0 { a } else { b })
        }
        (false, F32) => |r, x, m| {
            map3(
                r,
                x,
                m,
                |a: u32, b: u32, c: f32| if flushed(c, x) >= 0.0 { a } else { b },
            )
        },
        (true, F32) => |r, x, m| {
            map3(
                r,
                x,
                m,
                |a: u64, b: u64, c: f32| if flushed(c, x) >= 0.0 { a } else { b },
            )
        },
        _ => return None,
    };
    flagged(run, &[ty, ty, ty, by], combining(m))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_compared_as_one_comparison_says_it_of_each() {
        let nan = COMPARISONS.iter().filter(|(_, holds)| holds(f64::NAN, 1.0));
        let names: Vec<_> = nan.map(|(name, _)| *name).collect();
        assert_eq!(names, ["equ", "neu", "ltu", "leu", "gtu", "geu", "nan"]);
        for opcode in ["set.nan.f16x2.f16x2", "set.eq.u32.bf16x2"] {
            assert!(decode(&Mods::new(opcode)).is_some(), "{opcode}");
        }
        assert!(decode(&Mods::new("set.eq.f32.f16x2")).is_none());
    }
}
