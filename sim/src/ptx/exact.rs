//! Fused products, quotients and roots of `f64` that round in a direction (PTX ISA 9.7.3: `.rz`, `.rm`, `.rp`). Results
//! are computed as integers of 128 bits whose last bit is sticky (it is set if any lower bit of the exact result is
//! set), and rounded once.

use super::rounding::Mode;

/// The bit at which normalised integers begin.
const TOP: i32 = 125;

/// `bits * 2^exponent`, with a sign.
#[derive(Clone, Copy, Debug)]
struct Exact {
    bits: u128,
    exponent: i32,
    negative: bool,
}

impl Exact {
    /// A finite number that is not zero, with its top bit at [`TOP`].
    fn of(x: f64) -> Exact {
        let word = x.to_bits();
        let (field, fraction) = (((word >> 52) & 0x7ff) as i32, word & ((1 << 52) - 1));
        let (bits, exponent) = match field {
            0 => (fraction, -1074),
            _ => (fraction | (1 << 52), field - 1075),
        };
        let exact = Exact {
            bits: bits.into(),
            exponent,
            negative: x.is_sign_negative(),
        };
        exact.normal()
    }

    fn normal(self) -> Exact {
        let by = self.bits.leading_zeros() as i32 - (127 - TOP);
        let bits = match by {
            0.. => self.bits << by,
            // Only the sum of two numbers is longer, by one bit.
            _ => (self.bits >> 1) | (self.bits & 1),
        };
        Exact {
            bits,
            exponent: self.exponent - by,
            ..self
        }
    }

    /// The nearest number of 53 bits, or fewer below 2^-1022, in a direction.
    fn round(self, mode: Mode) -> f64 {
        let exact = self.normal();
        let away = match mode {
            Mode::Up => !self.negative,
            Mode::Down => self.negative,
            _ => false,
        };
        let exponent = exact.exponent + TOP;
        let dropped = (TOP - 52 + (-1022 - exponent).max(0)).min(127);
        let rest = exact.bits & ((1 << dropped) - 1);
        let kept = (exact.bits >> dropped) as u64 + u64::from(away && rest != 0);
        // The top bit of a normal number adds one to the exponent field.
        let size = match exponent {
            1024.. => f64::MAX.to_bits() + u64::from(away),
            -1022.. => ((exponent + 1022) as u64) * (1 << 52) + kept,
            _ => kept,
        };
        f64::from_bits(size | (u64::from(self.negative) << 63))
    }

    fn product(self, other: Exact) -> Exact {
        // The lower 72 bits of both are zero.
        Exact {
            bits: (self.bits >> 72) * (other.bits >> 72),
            exponent: self.exponent + other.exponent + 144,
            negative: self.negative != other.negative,
        }
    }

    fn sum(self, other: Exact) -> Exact {
        let (one, two) = (self.normal(), other.normal());
        let (large, small) = match (one.exponent, one.bits) >= (two.exponent, two.bits) {
            true => (one, two),
            false => (two, one),
        };
        let apart = (large.exponent - small.exponent).min(127);
        let lost = small.bits & ((1 << apart) - 1) != 0;
        let moved = (small.bits >> apart) | u128::from(lost);
        let bits = match large.negative == small.negative {
            true => large.bits + moved,
            false => large.bits - moved,
        };
        Exact { bits, ..large }
    }

    fn quotient(self, other: Exact) -> Exact {
        let (over, under) = (self.bits, other.bits >> 72);
        Exact {
            bits: (over / under) | u128::from(!over.is_multiple_of(under)),
            exponent: self.exponent - other.exponent - 72,
            negative: self.negative != other.negative,
        }
    }

    fn root(self) -> Exact {
        // The exponent must be even; there is room for one more bit.
        let odd = self.exponent & 1;
        let square = self.bits << odd;
        let root = square.isqrt();
        Exact {
            bits: (root << 32) | u128::from(root * root != square),
            exponent: (self.exponent - odd) / 2 - 32,
            negative: false,
        }
    }
}

/// Whether an operation on these numbers has the same result in every direction: a NaN, an infinity or a zero.
fn is_special(numbers: &[f64]) -> bool {
    numbers.iter().any(|x| !x.is_finite() || *x == 0.0)
}

/// A zero that is a sum: -0 if it is rounded down, unless both parts are +0.
fn zero(x: f64, y: f64, mode: Mode) -> f64 {
    match mode {
        Mode::Down if x.is_sign_negative() || y.is_sign_negative() => -0.0,
        _ => x + y,
    }
}

/// `a * b + c`
pub(in crate::ptx) fn fma(a: f64, b: f64, c: f64, mode: Mode) -> f64 {
    if !a.is_finite() || !b.is_finite() || !c.is_finite() {
        return a.mul_add(b, c);
    }
    match (a * b == 0.0 && (a == 0.0 || b == 0.0), c == 0.0) {
        (true, true) => return zero(a * b, c, mode),
        (true, false) => return c,
        (false, true) => return Exact::of(a).product(Exact::of(b)).round(mode),
        (false, false) => {}
    }
    let sum = Exact::of(a).product(Exact::of(b)).sum(Exact::of(c));
    match sum.bits {
        0 => zero(1.0, -1.0, mode),
        _ => sum.round(mode),
    }
}

/// `a / b`
pub(in crate::ptx) fn divide(a: f64, b: f64, mode: Mode) -> f64 {
    match is_special(&[a, b]) {
        true => a / b,
        false => Exact::of(a).quotient(Exact::of(b)).round(mode),
    }
}

/// The square root of `a`.
pub(in crate::ptx) fn square_root(a: f64, mode: Mode) -> f64 {
    match is_special(&[a]) || a < 0.0 {
        true => a.sqrt(),
        false => Exact::of(a).root().round(mode),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines with a direction, numbers a, b, c, and a + b, a / b, a * b + c and the root of |a|, as an x86 processor
    /// computes them in this direction.
    const KNOWN: &str = "\
rz 3ff0000000000000 4008000000000000 3ca0000000000000 4010000000000000 3fd5555555555555 4008000000000000 3ff0000000000000
rm 3ff0000000000000 4008000000000000 3ca0000000000000 4010000000000000 3fd5555555555555 4008000000000000 3ff0000000000000
rp 3ff0000000000000 4008000000000000 3ca0000000000000 4010000000000000 3fd5555555555556 4008000000000001 3ff0000000000000
rz 3fb999999999999a 3fc999999999999a bf947ae147ae147c 3fd3333333333333 3fe0000000000000 bc3eb851eb851eb8 3fd43d136248490f
rm 3fb999999999999a 3fc999999999999a bf947ae147ae147c 3fd3333333333333 3fe0000000000000 bc3eb851eb851eb8 3fd43d136248490f
rp 3fb999999999999a 3fc999999999999a bf947ae147ae147c 3fd3333333333334 3fe0000000000000 bc3eb851eb851eb8 3fd43d1362484910
rz bff0000000000001 3ff0000000000001 3ff0000000000002 0000000000000000 bff0000000000000 b970000000000000 3ff0000000000000
rm bff0000000000001 3ff0000000000001 3ff0000000000002 8000000000000000 bff0000000000000 b970000000000000 3ff0000000000000
rp bff0000000000001 3ff0000000000001 3ff0000000000002 0000000000000000 bff0000000000000 b970000000000000 3ff0000000000001
rz 7fefffffffffffff 7fefffffffffffff ffefffffffffffff 7fefffffffffffff 3ff0000000000000 7fefffffffffffff 5fefffffffffffff
rm 7fefffffffffffff 7fefffffffffffff ffefffffffffffff 7fefffffffffffff 3ff0000000000000 7fefffffffffffff 5fefffffffffffff
rp 7fefffffffffffff 7fefffffffffffff ffefffffffffffff 7ff0000000000000 3ff0000000000000 7ff0000000000000 5ff0000000000000
rz 7fefffffffffffff 7c90000000000000 0000000000000001 7fefffffffffffff 434fffffffffffff 7fefffffffffffff 5fefffffffffffff
rm 7fefffffffffffff 7c90000000000000 0000000000000001 7fefffffffffffff 434fffffffffffff 7fefffffffffffff 5fefffffffffffff
rp 7fefffffffffffff 7c90000000000000 0000000000000001 7ff0000000000000 434fffffffffffff 7ff0000000000000 5ff0000000000000
rz 0010000000000000 3fe0000000000001 8000000000000001 3fe0000000000001 001ffffffffffffe 0007ffffffffffff 2000000000000000
rm 0010000000000000 3fe0000000000001 8000000000000001 3fe0000000000001 001ffffffffffffe 0007ffffffffffff 2000000000000000
rp 0010000000000000 3fe0000000000001 8000000000000001 3fe0000000000002 001fffffffffffff 0008000000000000 2000000000000000
rz 0000000000000001 3fd5555555555555 0000000000000000 3fd5555555555555 0000000000000003 0000000000000000 1e60000000000000
rm 0000000000000001 3fd5555555555555 0000000000000000 3fd5555555555555 0000000000000003 0000000000000000 1e60000000000000
rp 0000000000000001 3fd5555555555555 0000000000000000 3fd5555555555556 0000000000000004 0000000000000001 1e60000000000000
rz 000fffffffffffff 8010000000000000 0000000000000001 8000000000000001 bfeffffffffffffe 0000000000000000 1ffffffffffffffe
rm 000fffffffffffff 8010000000000000 0000000000000001 8000000000000001 bfeffffffffffffe 0000000000000000 1ffffffffffffffe
rp 000fffffffffffff 8010000000000000 0000000000000001 8000000000000001 bfeffffffffffffe 0000000000000001 1fffffffffffffff
rz 3ff0000000000000 bff0000000000000 3ff0000000000000 0000000000000000 bff0000000000000 0000000000000000 3ff0000000000000
rm 3ff0000000000000 bff0000000000000 3ff0000000000000 8000000000000000 bff0000000000000 8000000000000000 3ff0000000000000
rp 3ff0000000000000 bff0000000000000 3ff0000000000000 0000000000000000 bff0000000000000 0000000000000000 3ff0000000000000
rz 0000000000000000 8000000000000000 0000000000000000 0000000000000000 fff8000000000000 0000000000000000 0000000000000000
rm 0000000000000000 8000000000000000 0000000000000000 8000000000000000 fff8000000000000 8000000000000000 0000000000000000
rp 0000000000000000 8000000000000000 0000000000000000 0000000000000000 fff8000000000000 0000000000000000 0000000000000000
rz 2000000000000001 1fe0000000000003 8000000000000003 2004000000000001 400ffffffffffffc 0003fffffffffffe 2ff6a09e667f3bcd
rm 2000000000000001 1fe0000000000003 8000000000000003 2004000000000001 400ffffffffffffc 0003fffffffffffe 2ff6a09e667f3bcd
rp 2000000000000001 1fe0000000000003 8000000000000003 2004000000000002 400ffffffffffffd 0003ffffffffffff 2ff6a09e667f3bce
rz 43dfffffffffffff c340000000000001 47f0000000000000 43dff7fffffffffe c08ffffffffffffd 47effdffffffffff 41e6a09e667f3bcc
rm 43dfffffffffffff c340000000000001 47f0000000000000 43dff7fffffffffe c08ffffffffffffe 47effdffffffffff 41e6a09e667f3bcc
rp 43dfffffffffffff c340000000000001 47f0000000000000 43dff7ffffffffff c08ffffffffffffd 47effe0000000000 41e6a09e667f3bcd
rz 3ff8000000000000 3cb0000000000001 bff8000000000001 3ff8000000000001 4337fffffffffffe bff7ffffffffffff 3ff3988e1409212e
rm 3ff8000000000000 3cb0000000000001 bff8000000000001 3ff8000000000001 4337fffffffffffe bff8000000000000 3ff3988e1409212e
rp 3ff8000000000000 3cb0000000000001 bff8000000000001 3ff8000000000002 4337ffffffffffff bff7ffffffffffff 3ff3988e1409212f
rz 4340000000000001 4330000000000001 c680000000000002 4348000000000001 4000000000000000 4000000000000000 4196a09e667f3bcd
rm 4340000000000001 4330000000000001 c680000000000002 4348000000000001 4000000000000000 4000000000000000 4196a09e667f3bcd
rp 4340000000000001 4330000000000001 c680000000000002 4348000000000002 4000000000000000 4000000000000000 4196a09e667f3bce";

    #[test]
    fn results_are_those_of_a_processor_bit_for_bit() {
        for line in KNOWN.lines() {
            let (direction, words) = line.split_once(' ').unwrap();
            let mode = match direction {
                "rz" => Mode::Zero,
                "rm" => Mode::Down,
                _ => Mode::Up,
            };
            let words: Vec<f64> = words
                .split(' ')
                .map(|word| f64::from_bits(u64::from_str_radix(word, 16).unwrap()))
                .collect();
            let [a, b, c, ref want @ ..] = words[..] else {
                panic!("{line}")
            };
            let found = [
                fma(a, 1.0, b, mode),
                divide(a, b, mode),
                fma(a, b, c, mode),
                square_root(a.abs(), mode),
            ];
            assert_eq!(want.len(), found.len());
            for (found, want) in found.into_iter().zip(want) {
                let same = found.to_bits() == want.to_bits() || found.is_nan() && want.is_nan();
                assert!(
                    same,
                    "{mode:?} of {a:e}, {b:e}, {c:e}: {found:e}, not {want:e}"
                );
            }
        }
    }

    #[test]
    fn results_in_opposite_directions_enclose_the_nearest_one() {
        let mut word = 1_u64;
        let mut any = || {
            word = word
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            f64::from_bits(word ^ word >> 29)
        };
        for _ in 0..100_000 {
            let (a, b, c) = (any(), any(), any());
            for (near, of) in [
                (a / b, &divide as &dyn Fn(f64, f64, Mode) -> f64),
                (a.mul_add(b, c), &|a, b, mode| fma(a, b, c, mode)),
                (a.abs().sqrt(), &|a, _, mode| square_root(a.abs(), mode)),
            ] {
                let (down, up) = (of(a, b, Mode::Down), of(a, b, Mode::Up));
                let zero = if near.is_sign_negative() { up } else { down };
                assert!(
                    near.is_nan() || down <= near && near <= up,
                    "{a:e}, {b:e}, {c:e}"
                );
                assert!(near.is_nan() || down == up || down.next_up() == up);
                assert!(near.is_nan() || of(a, b, Mode::Zero) == zero);
            }
        }
    }
}
