//! Logic, shifts and moves (PTX ISA 9.7.8 and 9.7.9).

use super::{Alu, Mods, alu, flagged};
use crate::ptx::regs::{Run, map1, map2, map3, map4, write_pred};
use crate::ptx::types::Type::{self, B, Pred, S, U};

/// Decodes an instruction. Returns `None` if this file does not implement the instruction.
pub(super) fn decode(m: &Mods) -> Option<Alu> {
    let ty = m.last_type()?;
    if ty == Pred {
        return predicates(m);
    }
    let wide = ty.wide();
    let pair = |narrow: Run, long: Run| if wide { long } else { narrow };
    match m.name() {
        "mov" if ty.bits() <= 64 => alu(
            pair(
                |r, x, m| map1(r, x, m, |a: u32| a),
                |r, x, m| map1(r, x, m, |a: u64| a),
            ),
            &[ty; 2],
        ),
        "and" => alu(
            pair(
                |r, x, m| map2(r, x, m, |a: u32, b: u32| a & b),
                |r, x, m| map2(r, x, m, |a: u64, b: u64| a & b),
            ),
            &[ty; 3],
        ),
        "or" => alu(
            pair(
                |r, x, m| map2(r, x, m, |a: u32, b: u32| a | b),
                |r, x, m| map2(r, x, m, |a: u64, b: u64| a | b),
            ),
            &[ty; 3],
        ),
        "xor" => alu(
            pair(
                |r, x, m| map2(r, x, m, |a: u32, b: u32| a ^ b),
                |r, x, m| map2(r, x, m, |a: u64, b: u64| a ^ b),
            ),
            &[ty; 3],
        ),
        "not" if ty == B(16) => alu(|r, x, m| map1(r, x, m, |a: u16| !a), &[ty; 2]),
        "not" => alu(
            pair(
                |r, x, m| map1(r, x, m, |a: u32| !a),
                |r, x, m| map1(r, x, m, |a: u64| !a),
            ),
            &[ty; 2],
        ),
        "cnot" if ty == B(16) => alu(
            |r, x, m| map1(r, x, m, |a: u16| u16::from(a == 0)),
            &[ty; 2],
        ),
        "cnot" => alu(
            pair(
                |r, x, m| map1(r, x, m, |a: u32| u32::from(a == 0)),
                |r, x, m| map1(r, x, m, |a: u64| u64::from(a == 0)),
            ),
            &[ty; 2],
        ),
        "shl" | "shr" => shifts(m.name(), ty),
        "shf" => funnel(m),
        "lop3" if m.parts.len() == 2 => {
            alu(|r, x, m| map4(r, x, m, lop3), &[ty, ty, ty, ty, U(32)])
        }
        "prmt" => permute(m),
        _ => None,
    }
}

/// Logic on predicates. The sources may be negated.
fn predicates(m: &Mods) -> Option<Alu> {
    let run: Run = match m.name() {
        "mov" => |r, x, m| write_pred(r, x.d, m, r.preds[x.a as usize]),
        "not" => |r, x, m| write_pred(r, x.d, m, !r.preds[x.a as usize]),
        "and" => |r, x, m| write_pred(r, x.d, m, r.preds[x.a as usize] & r.preds[x.b as usize]),
        "or" => |r, x, m| write_pred(r, x.d, m, r.preds[x.a as usize] | r.preds[x.b as usize]),
        "xor" => |r, x, m| write_pred(r, x.d, m, r.preds[x.a as usize] ^ r.preds[x.b as usize]),
        _ => return None,
    };
    let operands = if matches!(m.name(), "mov" | "not") {
        2
    } else {
        3
    };
    alu(run, &vec![Pred; operands])
}

/// Shifts (9.7.8.7 and 9.7.8.8). A shift by at least the width gives zero, or copies of the sign bit.
fn shifts(name: &str, ty: Type) -> Option<Alu> {
    let run: Run = match (name, ty) {
        ("shl", B(16)) => |r, x, m| map2(r, x, m, |a: u16, n: u32| a.checked_shl(n).unwrap_or(0)),
        ("shl", B(32)) => |r, x, m| {
            map2(
                r,
                x,
                m,
                |a: u32, n: u32| if n < 32 { a << (n & 31) } else { 0 },
            )
        },
        ("shl", B(64)) => |r, x, m| {
            map2(
                r,
                x,
                m,
                |a: u64, n: u32| if n < 64 { a << (n & 63) } else { 0 },
            )
        },
        ("shr", U(16) | B(16)) => {
            |r, x, m| map2(r, x, m, |a: u16, n: u32| a.checked_shr(n).unwrap_or(0))
        }
        ("shr", U(32) | B(32)) => |r, x, m| {
            map2(
                r,
                x,
                m,
                |a: u32, n: u32| if n < 32 { a >> (n & 31) } else { 0 },
            )
        },
        ("shr", U(64) | B(64)) => |r, x, m| {
            map2(
                r,
                x,
                m,
                |a: u64, n: u32| if n < 64 { a >> (n & 63) } else { 0 },
            )
        },
        ("shr", S(16)) => |r, x, m| map2(r, x, m, |a: i16, n: u32| a >> n.min(15)),
        ("shr", S(32)) => |r, x, m| map2(r, x, m, |a: i32, n: u32| a >> n.min(31)),
        ("shr", S(64)) => |r, x, m| map2(r, x, m, |a: i64, n: u32| a >> n.min(63)),
        _ => return None,
    };
    alu(run, &[ty, ty, U(32)])
}

/// `shf` (9.7.8.6). `b` is the upper half of the shifted value.
fn funnel(m: &Mods) -> Option<Alu> {
    let run: Run = match m.has("l") {
        true => |r, x, m| {
            map3(r, x, m, |a: u32, b: u32, n: u32| {
                let n = if x.flags != 0 { n & 31 } else { n.min(32) };
                ((u64::from(b) << 32 | u64::from(a)) << n >> 32) as u32
            })
        },
        false => |r, x, m| {
            map3(r, x, m, |a: u32, b: u32, n: u32| {
                let n = if x.flags != 0 { n & 31 } else { n.min(32) };
                ((u64::from(b) << 32 | u64::from(a)) >> n) as u32
            })
        },
    };
    flagged(run, &[B(32), B(32), B(32), U(32)], u32::from(m.has("wrap")))
}

/// `lop3` (9.7.8.5). Each result bit is bit `4a + 2b + c` of the table.
fn lop3(a: u32, b: u32, c: u32, table: u32) -> u32 {
    let pick = |bit: u32, minterm: u32| if table >> bit & 1 != 0 { minterm } else { 0 };
    pick(0, !a & !b & !c)
        | pick(1, !a & !b & c)
        | pick(2, !a & b & !c)
        | pick(3, !a & b & c)
        | pick(4, a & !b & !c)
        | pick(5, a & !b & c)
        | pick(6, a & b & !c)
        | pick(7, a & b & c)
}

/// `prmt` (9.7.9.7).
fn permute(m: &Mods) -> Option<Alu> {
    let run: Run = match m.parts.last().copied()? {
        "b32" => |r, x, m| map3(r, x, m, |a: u32, b: u32, s: u32| select(a, b, s)),
        "f4e" => |r, x, m| {
            map3(r, x, m, |a: u32, b: u32, s: u32| {
                select(a, b, 0x3210 + 0x1111 * (s & 3))
            })
        },
        "b4e" => |r, x, m| {
            map3(r, x, m, |a: u32, b: u32, s: u32| {
                select(a, b, [0x5670, 0x6701, 0x7012, 0x0123][s as usize & 3])
            })
        },
        "rc8" => |r, x, m| {
            map3(r, x, m, |a: u32, b: u32, s: u32| {
                select(a, b, 0x1111 * (s & 3))
            })
        },
        "ecl" => |r, x, m| {
            map3(r, x, m, |a: u32, b: u32, s: u32| {
                select(a, b, [0x3210, 0x3211, 0x3222, 0x3333][s as usize & 3])
            })
        },
        "ecr" => |r, x, m| {
            map3(r, x, m, |a: u32, b: u32, s: u32| {
                select(a, b, [0x0000, 0x1110, 0x2210, 0x3210][s as usize & 3])
            })
        },
        "rc16" => |r, x, m| {
            map3(r, x, m, |a: u32, b: u32, s: u32| {
                select(a, b, [0x1010, 0x3232][s as usize & 1])
            })
        },
        _ => return None,
    };
    alu(run, &[B(32); 4])
}

/// Selects four bytes of `b:a`. Bit 3 of a selector replicates the sign of the byte.
fn select(a: u32, b: u32, selector: u32) -> u32 {
    let bytes = u64::from(b) << 32 | u64::from(a);
    let mut out = 0;
    for i in 0..4 {
        let s = selector >> (4 * i) & 15;
        let byte = (bytes >> (8 * (s & 7))) as u8;
        let byte = if s & 8 != 0 {
            ((byte as i8) >> 7) as u8
        } else {
            byte
        };
        out |= u32::from(byte) << (8 * i);
    }
    out
}
