//! Instructions on `f16` and `bf16`, scalar and in pairs (PTX ISA 9.7.4). Each operation is exact or rounded to odd in
//! `f64`, and then rounded once to the type.

use half::{bf16, f16};

use super::float::{FTZ, SAT, modifiers};
use super::{Alu, Mods, flagged};
use crate::ptx::regs::{Args, Cell, Regs, Run, map1, map2, map3};
use crate::ptx::rounding::{BF16, F16, Format, Mode, round, sum};
use crate::ptx::types::Type;

const NAN: u32 = 16;
const RELU: u32 = 32;

/// A 16-bit float type.
trait Half: Copy {
    const FORMAT: Format;
    fn double(self) -> f64;
    fn exact(x: f64) -> Self;
    fn bits(self) -> u16;
    fn of(bits: u16) -> Self;
}

macro_rules! half {
    ($t:ty, $format:expr) => {
        impl Half for $t {
            const FORMAT: Format = $format;
            fn double(self) -> f64 {
                self.to_f64()
            }
            fn exact(x: f64) -> $t {
                match x.is_nan() {
                    true => <$t>::from_bits(0x7fff),
                    false => <$t>::from_f64(x),
                }
            }
            fn bits(self) -> u16 {
                self.to_bits()
            }
            fn of(bits: u16) -> $t {
                <$t>::from_bits(bits)
            }
        }
    };
}

half!(f16, F16);
half!(bf16, BF16);

/// A scalar or a pair of scalars.
trait Lanes: Cell {
    type Number: Half;
    fn each1(a: Self, f: impl Fn(Self::Number) -> Self::Number) -> Self;
    fn each2(a: Self, b: Self, f: impl Fn(Self::Number, Self::Number) -> Self::Number) -> Self;
    fn each3(a: Self, b: Self, c: Self, f: impl Fn(f64, f64, f64) -> Self::Number) -> Self;
}

macro_rules! lanes {
    ($t:ty) => {
        impl Lanes for $t {
            type Number = $t;
            fn each1(a: $t, f: impl Fn($t) -> $t) -> $t {
                f(a)
            }
            fn each2(a: $t, b: $t, f: impl Fn($t, $t) -> $t) -> $t {
                f(a, b)
            }
            fn each3(a: $t, b: $t, c: $t, f: impl Fn(f64, f64, f64) -> $t) -> $t {
                f(a.double(), b.double(), c.double())
            }
        }
        impl Lanes for [$t; 2] {
            type Number = $t;
            fn each1(a: Self, f: impl Fn($t) -> $t) -> Self {
                a.map(f)
            }
            fn each2(a: Self, b: Self, f: impl Fn($t, $t) -> $t) -> Self {
                [f(a[0], b[0]), f(a[1], b[1])]
            }
            fn each3(a: Self, b: Self, c: Self, f: impl Fn(f64, f64, f64) -> $t) -> Self {
                [0, 1].map(|i| f(a[i].double(), b[i].double(), c[i].double()))
            }
        }
    };
}

lanes!(f16);
lanes!(bf16);

/// Decodes an instruction. Returns `None` if this file does not implement the instruction.
pub(super) fn decode(m: &Mods) -> Option<Alu> {
    let &[ty] = &m.types()[..] else { return None };
    let (run, operands) = match ty {
        Type::F16 => operation::<f16>(m)?,
        Type::F16x2 => operation::<[f16; 2]>(m)?,
        Type::Bf16 => operation::<bf16>(m)?,
        Type::Bf16x2 => operation::<[bf16; 2]>(m)?,
        _ => return None,
    };
    let flags = modifiers(m) | if m.has("relu") { RELU } else { 0 };
    if m.has("xorsign") || m.has("oob") || flags & 3 != 0 {
        return None;
    }
    flagged(run, &vec![ty; operands], flags)
}

fn operation<T: Lanes + 'static>(m: &Mods) -> Option<(Run, usize)> {
    Some(match m.name() {
        "add" => (
            |r, x, m| binary::<T>(r, x, m, |a, b| sum(a, b, Mode::Near)),
            3,
        ),
        "sub" => (
            |r, x, m| binary::<T>(r, x, m, |a, b| sum(a, -b, Mode::Near)),
            3,
        ),
        "mul" => (|r, x, m| binary::<T>(r, x, m, |a, b| a * b), 3),
        "fma" => (
            |r, x, m| {
                let input = |v| flushed::<T::Number>(v, x.flags);
                map3(r, x, m, |a: T, b: T, c: T| {
                    T::each3(a, b, c, |a, b, c| {
                        rounded(sum(input(a) * input(b), input(c), Mode::Near), x.flags)
                    })
                });
            },
            4,
        ),
        "neg" => (
            |r, x, m| {
                map1(r, x, m, |a: T| {
                    T::each1(a, |v| T::Number::of(v.bits() ^ 0x8000))
                })
            },
            2,
        ),
        "abs" => (
            |r, x, m| {
                map1(r, x, m, |a: T| {
                    T::each1(a, |v| T::Number::of(v.bits() & 0x7fff))
                })
            },
            2,
        ),
        "min" => (
            |r, x, m| {
                map2(r, x, m, |a: T, b: T| {
                    T::each2(a, b, |a, b| extreme(a, b, false, x.flags))
                })
            },
            3,
        ),
        "max" => (
            |r, x, m| {
                map2(r, x, m, |a: T, b: T| {
                    T::each2(a, b, |a, b| extreme(a, b, true, x.flags))
                })
            },
            3,
        ),
        _ => return None,
    })
}

fn flushed<H: Half>(x: f64, flags: u32) -> f64 {
    match flags & FTZ != 0 && x.abs() < f64::from(H::FORMAT.least).exp2() {
        true => 0f64.copysign(x),
        false => x,
    }
}

fn rounded<H: Half>(x: f64, flags: u32) -> H {
    let x = flushed::<H>(round(x, H::FORMAT, Mode::Near), flags);
    H::exact(match () {
        () if flags & SAT != 0 => {
            if x > 0.0 {
                x.min(1.0)
            } else {
                0.0
            }
        }
        () if flags & RELU != 0 && x < 0.0 => 0.0,
        () => x,
    })
}

fn binary<T: Lanes>(r: &mut Regs, x: &Args, m: u32, f: impl Fn(f64, f64) -> f64) {
    let input = |v: T::Number| flushed::<T::Number>(v.double(), x.flags);
    map2(r, x, m, |a: T, b: T| {
        T::each2(a, b, |a, b| rounded(f(input(a), input(b)), x.flags))
    });
}

fn extreme<H: Half>(a: H, b: H, max: bool, flags: u32) -> H {
    let [x, y] = [a, b].map(|v| flushed::<H>(v.double(), flags));
    let either = x.is_nan() || y.is_nan();
    H::exact(match () {
        () if either && flags & NAN != 0 => f64::NAN,
        () if either => {
            if x.is_nan() {
                y
            } else {
                x
            }
        }
        () if x == y => {
            if x.is_sign_positive() == max {
                x
            } else {
                y
            }
        }
        () => {
            if (x > y) == max {
                x
            } else {
                y
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::alu::testing::on_words;

    fn run(opcode: &str, inputs: [u32; 3]) -> u32 {
        on_words(&decode(&Mods::new(opcode)).unwrap(), inputs)
    }

    #[test]
    fn pairs_are_two_numbers() {
        // The upper halves give 1 + 2, the lower halves 0.5 + 0.25.
        assert_eq!(
            run("add.rn.f16x2", [0x3c00_3800, 0x4000_3400, 0]),
            0x4200_3a00
        );
        assert_eq!(
            run("fma.rn.bf16x2", [0x3f80_4000, 0x4000_4000, 0x3f80_3f80]),
            0x4040_40a0
        );
        assert_eq!(run("neg.f16x2", [0x3c00_bc00, 0, 0]), 0xbc00_3c00);
    }

    #[test]
    fn a_nan_is_ignored_by_max_unless_it_says_so() {
        assert_eq!(run("max.f16", [0x7e00, 0x3c00, 0]), 0x3c00);
        assert_eq!(run("max.NaN.f16", [0x7e00, 0x3c00, 0]), 0x7fff);
        assert_eq!(run("min.f16", [0x0000, 0x8000, 0]), 0x8000);
    }

    #[test]
    fn a_fused_product_is_rounded_once() {
        // (1 + 2^-10)^2 = 1 + 2^-9 + 2^-20. Subtracting 1 + 2^-9 leaves 2^-20.
        assert_eq!(run("fma.rn.f16", [0x3c01, 0x3c01, 0xbc02]), 0x0010);
    }
}
