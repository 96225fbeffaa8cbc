//! Rounding to a format in every direction (PTX ISA 6.5.2, "Rounding Modifiers"), and the exact errors of operations.
//!
//! An operation on `f32` is computed in `f64`. The `f64` result and the sign of its error give a value that is rounded
//! to odd. This value has enough additional bits that rounding it to `f32` equals rounding the exact result (Boldo and
//! Melquiond, "Emulation of FMA and correctly rounded sums", IEEE ToC 2008).

/// A rounding direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// `.rn`: to nearest, ties to even.
    Near,
    /// `.rz`: towards zero.
    Zero,
    /// `.rm`: towards minus infinity.
    Down,
    /// `.rp`: towards plus infinity.
    Up,
    /// `.rna`: to nearest, ties away from zero.
    Away,
}

/// A binary floating-point format narrower than `f64`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    /// The exponent of the smallest normal number.
    pub least: i32,
    /// Number of bits of the fraction.
    pub fraction: i32,
    /// The largest finite number.
    pub max: f64,
}

pub(super) const F32: Format = Format {
    least: -126,
    fraction: 23,
    max: f32::MAX as f64,
};
pub(super) const F16: Format = Format {
    least: -14,
    fraction: 10,
    max: 65504.0,
};
pub(super) const BF16: Format = Format {
    least: -126,
    fraction: 7,
    max: 3.389_531_389_251_535_5e38,
};
pub(super) const TF32: Format = Format {
    least: -126,
    fraction: 10,
    max: 3.401_162_134_214_653e38,
};

/// 2 to the power of `n`. `n` must be the exponent of a normal number.
fn power(n: i32) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

/// Rounds `x` to a number of the format. The result is infinite if `x` is too large and the direction allows infinity.
pub(super) fn round(x: f64, format: Format, mode: Mode) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let exponent = ((x.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(format.least);
    let quantum = exponent - format.fraction;
    // Both factors are powers of two in the range of `f64`, so these multiplications are exact.
    let scaled = x * power(-quantum);
    let integer = match mode {
        Mode::Near => scaled.round_ties_even(),
        Mode::Zero => scaled.trunc(),
        Mode::Down => scaled.floor(),
        Mode::Up => scaled.ceil(),
        Mode::Away => scaled.round(),
    };
    let rounded = (integer * power(quantum)).copysign(x);
    if rounded.abs() <= format.max {
        return rounded;
    }
    let finite = match mode {
        Mode::Near | Mode::Away => false,
        Mode::Zero => true,
        Mode::Down => x > 0.0,
        Mode::Up => x < 0.0,
    };
    if finite { format.max } else { f64::INFINITY }.copysign(x)
}

/// `s` rounded to odd. `error` has the sign of the exact result minus `s`.
#[inline(always)]
pub(super) fn odd(s: f64, error: f64) -> f64 {
    let bits = s.to_bits();
    if error == 0.0 || error.is_nan() || bits & 1 == 1 || !s.is_finite() {
        return s;
    }
    match (error > 0.0) == (s > 0.0) {
        true => f64::from_bits(bits + 1),
        false => f64::from_bits(bits - 1),
    }
}

/// The rounded sum and its exact error (Knuth's TwoSum).
#[inline(always)]
pub(super) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let b_part = s - a;
    let a_part = s - b_part;
    (s, (a - a_part) + (b - b_part))
}

/// `a + b`, rounded to odd for a second rounding, with the sign of zero that the direction requires.
pub(super) fn sum(a: f64, b: f64, mode: Mode) -> f64 {
    let (s, error) = two_sum(a, b);
    let cancelled = s == 0.0 && a.is_sign_negative() != b.is_sign_negative();
    match cancelled && mode == Mode::Down {
        true => -0.0,
        false => odd(s, error),
    }
}

/// `a / b` of two `f32`, rounded to odd for a second rounding.
pub(super) fn quotient(a: f64, b: f64) -> f64 {
    let q = a / b;
    match q.is_finite() && q != 0.0 {
        true => odd(q, (-q).mul_add(b, a) * b.signum()),
        false => q,
    }
}

/// The square root of an `f32`, rounded to odd for a second rounding.
pub(super) fn root(a: f64) -> f64 {
    let q = a.sqrt();
    match q.is_finite() && q != 0.0 {
        true => odd(q, (-q).mul_add(q, a)),
        false => q,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn directions_of_one_third() {
        let third = quotient(1.0, 3.0);
        let in_mode = |mode| (round(third, F32, mode) as f32).to_bits();
        assert_eq!(in_mode(Mode::Near), 0x3eaa_aaab);
        assert_eq!(in_mode(Mode::Zero), 0x3eaa_aaaa);
        assert_eq!(in_mode(Mode::Down), 0x3eaa_aaaa);
        assert_eq!(in_mode(Mode::Up), 0x3eaa_aaab);
    }

    #[test]
    fn overflow_and_the_smallest_numbers() {
        assert_eq!(round(1e39, F32, Mode::Near), f64::INFINITY);
        assert_eq!(round(1e39, F32, Mode::Zero), f64::from(f32::MAX));
        assert_eq!(round(-1e39, F32, Mode::Up), -f64::from(f32::MAX));
        assert_eq!(round(65519.0, F16, Mode::Near), 65504.0);
        assert_eq!(round(65520.0, F16, Mode::Near), f64::INFINITY);
        assert_eq!(round(1e-46, F32, Mode::Up), f64::from(f32::from_bits(1)));
        assert_eq!(round(1e-46, F32, Mode::Near), 0.0);
        assert!(round(-1e-46, F32, Mode::Near).is_sign_negative());
    }

    #[test]
    fn exact_cancellation_is_minus_zero_only_downwards() {
        assert!(sum(1.0, -1.0, Mode::Down).is_sign_negative());
        assert!(sum(1.0, -1.0, Mode::Near).is_sign_positive());
        assert!(sum(0.0, 0.0, Mode::Down).is_sign_positive());
    }

    proptest! {
        #[test]
        fn quotients_and_roots_are_the_hosts(a: u32, b: u32) {
            let [a, b] = [a, b].map(f32::from_bits);
            let same = |x: f64, y: f32| round(x, F32, Mode::Near) as f32 == y || x.is_nan() && y.is_nan();
            prop_assert!(same(quotient(a.into(), b.into()), a / b));
            prop_assert!(same(root(a.into()), a.sqrt()));
        }
    }
}
