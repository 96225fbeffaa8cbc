//! Instructions on `f32` and `f64` (PTX ISA 9.7.3). The NaN result of an `f32` instruction is 0x7fffffff ("NaN
//! payload").

use super::{Alu, Mods, flagged};
use crate::ptx::exact;
use crate::ptx::regs::{Args, Regs, Run, map1, map2, map3, write};
use crate::ptx::rounding::{F32 as SINGLE, Mode, quotient, root, round, sum, two_sum};
use crate::ptx::types::Type::{F32, F64};

/// Bits of `flags`. The lowest two bits are the rounding direction.
pub(super) const FTZ: u32 = 4;
pub(super) const SAT: u32 = 8;
const NAN: u32 = 16;
const XORSIGN: u32 = 32;
const MAX: u32 = 64;

/// The modifiers of an instruction as `flags`.
pub(super) fn modifiers(m: &Mods) -> u32 {
    let direction = match () {
        () if m.has("rz") => 1,
        () if m.has("rm") => 2,
        () if m.has("rp") => 3,
        () => 0,
    };
    let bit = |suffix, bit| if m.has(suffix) { bit } else { 0 };
    direction | bit("ftz", FTZ) | bit("sat", SAT) | bit("NaN", NAN)
}

/// The rounding direction in `flags`.
pub(super) fn direction(flags: u32) -> Mode {
    [Mode::Near, Mode::Zero, Mode::Down, Mode::Up][flags as usize & 3]
}

/// Replaces any NaN by the NaN that `f32` instructions return.
#[inline(always)]
pub(in crate::ptx) fn canonical(x: f32) -> f32 {
    if x.is_nan() {
        f32::from_bits(0x7fff_ffff)
    } else {
        x
    }
}

/// Applies `.ftz`, which replaces a subnormal number by a zero of the same sign.
#[inline(always)]
pub(super) fn flush(x: f32, flags: u32) -> f32 {
    match flags & FTZ != 0 && x.is_subnormal() {
        true => 0f32.copysign(x),
        false => x,
    }
}

/// Applies `.ftz` and then `.sat`, which clamps to [0, 1] and turns NaN into +0.
#[inline(always)]
pub(super) fn finish(x: f32, flags: u32) -> f32 {
    let x = flush(x, flags);
    match flags & SAT != 0 {
        true if x > 0.0 => x.min(1.0),
        true => 0.0,
        false => canonical(x),
    }
}

/// Rounds a wider value in the direction of `flags`, then applies `.ftz` and `.sat`.
pub(super) fn rounded(x: f64, flags: u32) -> f32 {
    finish(round(x, SINGLE, direction(flags)) as f32, flags)
}

/// Decodes an instruction. Returns `None` if this file does not implement the instruction.
pub(super) fn decode(m: &Mods) -> Option<Alu> {
    match m.types()[..] {
        [F32] => singles(m),
        [F64] => doubles(m),
        _ => None,
    }
}

fn singles(m: &Mods) -> Option<Alu> {
    let flags = modifiers(m);
    let plain = flags == 0;
    let (run, operands): (Run, usize) = match m.name() {
        "add" if plain => (
            |r, x, m| map2(r, x, m, |a: f32, b: f32| canonical(a + b)),
            3,
        ),
        "sub" if plain => (
            |r, x, m| map2(r, x, m, |a: f32, b: f32| canonical(a - b)),
            3,
        ),
        "mul" if plain => (
            |r, x, m| map2(r, x, m, |a: f32, b: f32| canonical(a * b)),
            3,
        ),
        "fma" | "mad" if plain => (fused, 4),
        "div" if plain => (
            |r, x, m| map2(r, x, m, |a: f32, b: f32| canonical(a / b)),
            3,
        ),
        "sqrt" if plain => (|r, x, m| map1(r, x, m, |a: f32| canonical(a.sqrt())), 2),
        "rcp" if plain => (|r, x, m| map1(r, x, m, |a: f32| canonical(1.0 / a)), 2),
        "add" => (|r, x, m| binary(r, x, m, sum), 3),
        "sub" => (|r, x, m| binary(r, x, m, |a, b, mode| sum(a, -b, mode)), 3),
        "mul" => (|r, x, m| binary(r, x, m, |a, b, _| a * b), 3),
        "div" => (|r, x, m| binary(r, x, m, |a, b, _| quotient(a, b)), 3),
        "fma" | "mad" => (
            |r, x, m| {
                map3(r, x, m, |a: f32, b: f32, c: f32| {
                    let [a, b, c] = [a, b, c].map(|v| f64::from(flush(v, x.flags)));
                    rounded(sum(a * b, c, direction(x.flags)), x.flags)
                })
            },
            4,
        ),
        "sqrt" => (
            |r, x, m| {
                map1(r, x, m, |a: f32| {
                    rounded(root(flush(a, x.flags).into()), x.flags)
                })
            },
            2,
        ),
        "rcp" => (
            |r, x, m| {
                map1(r, x, m, |a: f32| {
                    rounded(quotient(1.0, flush(a, x.flags).into()), x.flags)
                })
            },
            2,
        ),
        // The sign of a NaN is undefined (9.7.3.9 and 9.7.3.10). The payload is preserved.
        "neg" => (|r, x, m| map1(r, x, m, |a: f32| -flush(a, x.flags)), 2),
        "abs" => (|r, x, m| map1(r, x, m, |a: f32| flush(a, x.flags).abs()), 2),
        "copysign" => (|r, x, m| map2(r, x, m, |a: f32, b: f32| b.copysign(a)), 3),
        "min" | "max" => return extremes(m, flags),
        "testp" => return None,
        _ => return None,
    };
    flagged(run, &vec![F32; operands], flags)
}

#[inline(always)]
fn binary(r: &mut Regs, x: &Args, mask: u32, f: impl Fn(f64, f64, Mode) -> f64) {
    let flags = x.flags;
    map2(r, x, mask, |a: f32, b: f32| {
        let (a, b) = (flush(a, flags), flush(b, flags));
        rounded(f(a.into(), b.into(), direction(flags)), flags)
    });
}

/// `fma.rn.f32`
fn fused(r: &mut Regs, x: &Args, mask: u32) {
    let row = |register: u32| &r.words[register as usize];
    let mut out = crate::fused::fma32(row(x.a), row(x.b), row(x.c));
    for bits in &mut out {
        *bits = canonical(f32::from_bits(*bits)).to_bits();
    }
    write::<u32>(r, x.d, mask, &out);
}

/// `min` and `max` (9.7.3.11 and 9.7.3.12). If one operand is NaN, the other is the result, except with `.NaN`. -0 is
/// less than +0.
fn extremes(m: &Mods, flags: u32) -> Option<Alu> {
    let three = m.parts.len() > 2 && m.has("three");
    if three || m.has("abs") {
        return None;
    }
    let bit = |suffix, bit| if m.has(suffix) { bit } else { 0 };
    let flags = flags | bit("xorsign", XORSIGN) | if m.name() == "max" { MAX } else { 0 };
    let run: Run = match flags {
        MAX => |r, x, m| map2(r, x, m, |a: f32, b: f32| extreme(a, b, MAX)),
        0 => |r, x, m| map2(r, x, m, |a: f32, b: f32| extreme(a, b, 0)),
        _ => |r, x, m| {
            map2(r, x, m, |a: f32, b: f32| {
                extreme(flush(a, x.flags), flush(b, x.flags), x.flags)
            })
        },
    };
    if flags & XORSIGN != 0 {
        return None;
    }
    flagged(run, &[F32; 3], flags)
}

#[inline(always)]
fn extreme(a: f32, b: f32, flags: u32) -> f32 {
    if a.is_nan() || b.is_nan() {
        let other = if a.is_nan() { b } else { a };
        return canonical(if flags & NAN != 0 { f32::NAN } else { other });
    }
    let first = match a == b {
        true => a.is_sign_positive() == (flags & MAX != 0),
        false => (a > b) == (flags & MAX != 0),
    };
    if first { a } else { b }
}

fn doubles(m: &Mods) -> Option<Alu> {
    let flags = modifiers(m);
    let near = flags & 3 == 0;
    let (run, operands): (Run, usize) = match m.name() {
        "add" if near => (|r, x, m| map2(r, x, m, |a: f64, b: f64| a + b), 3),
        "sub" if near => (|r, x, m| map2(r, x, m, |a: f64, b: f64| a - b), 3),
        "mul" if near => (|r, x, m| map2(r, x, m, |a: f64, b: f64| a * b), 3),
        "div" if near => (|r, x, m| map2(r, x, m, |a: f64, b: f64| a / b), 3),
        "fma" | "mad" if near => (|r, x, m| map3(r, x, m, f64::mul_add), 4),
        "sqrt" if near => (|r, x, m| map1(r, x, m, f64::sqrt), 2),
        "rcp" if near && !m.has("approx") => (|r, x, m| map1(r, x, m, |a: f64| 1.0 / a), 2),
        "add" => (
            |r, x, m| map2(r, x, m, |a: f64, b: f64| directed_sum(a, b, x.flags)),
            3,
        ),
        "sub" => (
            |r, x, m| map2(r, x, m, |a: f64, b: f64| directed_sum(a, -b, x.flags)),
            3,
        ),
        "mul" => (
            |r, x, m| map2(r, x, m, |a: f64, b: f64| directed_product(a, b, x.flags)),
            3,
        ),
        "neg" => (|r, x, m| map1(r, x, m, |a: f64| -a), 2),
        "abs" => (|r, x, m| map1(r, x, m, f64::abs), 2),
        "copysign" => (|r, x, m| map2(r, x, m, |a: f64, b: f64| b.copysign(a)), 3),
        "div" => (
            |r, x, m| {
                let mode = direction(x.flags);
                map2(r, x, m, |a: f64, b: f64| exact::divide(a, b, mode));
            },
            3,
        ),
        "fma" | "mad" => (
            |r, x, m| {
                let mode = direction(x.flags);
                map3(r, x, m, |a: f64, b: f64, c: f64| exact::fma(a, b, c, mode));
            },
            4,
        ),
        "sqrt" => (
            |r, x, m| {
                let mode = direction(x.flags);
                map1(r, x, m, |a: f64| exact::square_root(a, mode));
            },
            2,
        ),
        "rcp" if !m.has("approx") => (
            |r, x, m| {
                let mode = direction(x.flags);
                map1(r, x, m, |a: f64| exact::divide(1.0, a, mode));
            },
            2,
        ),
        "min" => (
            |r, x, m| map2(r, x, m, |a: f64, b: f64| extreme64(a, b, false)),
            3,
        ),
        "max" => (
            |r, x, m| map2(r, x, m, |a: f64, b: f64| extreme64(a, b, true)),
            3,
        ),
        _ => return None,
    };
    match flags & !3 & !FTZ {
        0 => flagged(run, &vec![F64; operands], flags),
        _ => None,
    }
}

fn extreme64(a: f64, b: f64, max: bool) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if a == b => {
            if a.is_sign_positive() == max {
                a
            } else {
                b
            }
        }
        _ => {
            if (a > b) == max {
                a
            } else {
                b
            }
        }
    }
}

/// `a + b`, rounded in the direction of `flags`.
fn directed_sum(a: f64, b: f64, flags: u32) -> f64 {
    let (near, error) = two_sum(a, b);
    let cancelled = near == 0.0 && a.is_sign_negative() != b.is_sign_negative();
    match cancelled && direction(flags) == Mode::Down {
        true => -0.0,
        false => directed(near, error, a.is_finite() && b.is_finite(), flags),
    }
}

/// `a * b`, rounded in the direction of `flags`.
fn directed_product(a: f64, b: f64, flags: u32) -> f64 {
    let near = a * b;
    // The error of a product below this limit may not be representable, so it is computed for factors that are scaled
    // up.
    let least = 2f64.powi(-969);
    let error = match near.abs() < least {
        true => {
            let scale = 2f64.powi(600);
            (a * scale).mul_add(b * scale, -(near * scale * scale))
        }
        false => a.mul_add(b, -near),
    };
    directed(near, error, a.is_finite() && b.is_finite(), flags)
}

/// Rounds the result of an `f64` operation in the direction of `flags`. `near` is the result rounded to nearest, and
/// `error` has the sign of the exact result minus `near`. If the error points in the direction of rounding, the result
/// is the next number in this direction, otherwise `near`. If all operands are finite, an infinite `near` is greater
/// than the exact result.
fn directed(near: f64, error: f64, are_finite: bool, flags: u32) -> f64 {
    let up = match direction(flags) {
        Mode::Up => true,
        Mode::Down => false,
        _ => near.is_sign_negative(),
    };
    if near.is_infinite() && are_finite {
        return if up == (near > 0.0) {
            near
        } else {
            f64::MAX.copysign(near)
        };
    }
    if error == 0.0 || !near.is_finite() || error.is_nan() {
        return near;
    }
    match (up, error > 0.0) {
        (true, true) => near.next_up(),
        (false, false) => near.next_down(),
        _ => near,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::alu::testing::on_longs;

    /// `a op b` towards zero, down and up.
    fn of(opcode: &str, a: f64, b: f64) -> [f64; 3] {
        ["rz", "rm", "rp"].map(|rounding| {
            let alu = decode(&Mods::new(&format!("{opcode}.{rounding}.f64"))).unwrap();
            f64::from_bits(on_longs(&alu, [a, b].map(f64::to_bits)))
        })
    }

    // PTX ISA 9.7.3: IEEE 754 rounds a finite result beyond the largest number to it, or to infinity, by the direction.
    #[test]
    fn a_sum_or_product_that_is_too_large_is_infinite_only_in_its_direction() {
        const MAX: f64 = f64::MAX;
        const INF: f64 = f64::INFINITY;
        assert_eq!(of("add", MAX, MAX), [MAX, MAX, INF]);
        assert_eq!(of("sub", -MAX, MAX), [-MAX, -INF, -MAX]);
        assert_eq!(of("mul", MAX, 2.0), [MAX, MAX, INF]);
        assert_eq!(of("mul", MAX, -2.0), [-MAX, -INF, -MAX]);
        assert_eq!(of("add", INF, -1.0), [INF; 3]);
        assert_eq!(of("mul", -INF, 2.0), [-INF; 3]);
        assert_eq!(of("add", MAX, 1.0), [MAX, MAX, INF]);
    }

    #[test]
    fn products_below_the_normal_numbers_are_rounded_in_their_direction() {
        let least = f64::from_bits(1);
        assert_eq!(of("mul", least, 0.5), [0.0, 0.0, least]);
        assert_eq!(of("mul", least, -least), [-0.0, -least, -0.0]);
        assert!(of("mul", least, -least)[0].is_sign_negative());
        assert_eq!(of("mul", 3.0 * least, 0.5), [least, least, 2.0 * least]);
        assert_eq!(of("mul", 2.0 * least, 0.5), [least; 3]);
        assert_eq!(of("mul", 0.0, 3.0), [0.0; 3]);
    }

    #[test]
    fn a_sum_that_cancels_is_minus_zero_only_downwards() {
        let signs = |sums: [f64; 3]| sums.map(f64::is_sign_negative);
        assert_eq!(signs(of("add", 1.5, -1.5)), [false, true, false]);
        assert_eq!(signs(of("sub", 0.0, 0.0)), [false, true, false]);
        assert_eq!(signs(of("add", 0.0, 0.0)), [false; 3]);
        assert_eq!(signs(of("add", -0.0, -0.0)), [true; 3]);
    }
}
