//! Vector comparisons.
//!
//! AMD, "RDNA3 Instruction Set Architecture", VOPC: the result bit of an inactive lane is 0.

use half::f16;

use super::vector::{flush16, flush32, flush64, mask_of, permuted};
use crate::gfx11::isa::compare::Kind;
use crate::gfx11::isa::instruction::{Compare, Modifiers};
use crate::gfx11::wave::{Lanes, Lanes64, Wave};
use crate::lanes::over;

/// The outcome of a comparison: bit 0 less, bit 1 equal, bit 2 greater, bit 3 unordered.
#[inline(always)]
fn outcome<T: PartialOrd>(a: T, b: T) -> u8 {
    let (less, equal, greater) = (a < b, a == b, a > b);
    let ordered = u8::from(less) | u8::from(equal) << 1 | u8::from(greater) << 2;
    ordered | u8::from(ordered == 0) << 3
}

#[inline(always)]
fn test<T: PartialOrd>(accepts: u8, pair: impl Fn(usize) -> (T, T)) -> u32 {
    mask_of(|lane| {
        let (a, b) = pair(lane);
        outcome(a, b) & accepts != 0
    })
}

fn source(w: &Wave, one: &Compare, n: usize) -> Lanes {
    let value = w.lanes(one.src[n]);
    match &one.dpp {
        Some(dpp) if n == 0 => permuted(&value, dpp, w.exec()),
        _ => value,
    }
}

/// A source after its modifiers. `sign` is the position of the sign bit.
fn float(w: &Wave, one: &Compare, n: usize, sign: u32) -> Lanes {
    let value = source(w, one, n);
    let clear = u32::from(one.mods.abs >> n & 1 != 0) << sign;
    let flip = u32::from(one.mods.neg >> n & 1 != 0) << sign;
    match one.mods == Modifiers::default() {
        true => value,
        false => over(&value, |bits| bits & !clear ^ flip),
    }
}

/// A source of a comparison of 32-bit floats, whose denormals are flushed if the mode requires it. A test of the class
/// uses [`float`] instead, because it does not flush denormals.
fn float_to_compare(w: &Wave, one: &Compare, n: usize) -> Lanes {
    let mut value = float(w, one, n, 31);
    if w.mode.denormals & 1 == 0 {
        flush32(&mut value);
    }
    value
}

fn half_of(w: &Wave, one: &Compare, n: usize) -> Lanes {
    let shift = if one.mods.high >> n & 1 != 0 { 16 } else { 0 };
    over(&source(w, one, n), |bits| bits >> shift & 0xffff)
}

fn half_float(w: &Wave, one: &Compare, n: usize) -> Lanes {
    let clear = u32::from(one.mods.abs >> n & 1 != 0) << 15;
    let flip = u32::from(one.mods.neg >> n & 1 != 0) << 15;
    over(&half_of(w, one, n), |bits| bits & !clear ^ flip)
}

fn half_to_compare(w: &Wave, one: &Compare, n: usize) -> [f16; 32] {
    let mut value = half_float(w, one, n);
    if w.mode.denormals & 4 == 0 {
        flush16(&mut value);
    }
    over(&value, |bits| f16::from_bits(bits as u16))
}

fn double(w: &Wave, one: &Compare, n: usize) -> Lanes64 {
    let clear = u64::from(one.mods.abs >> n & 1 != 0) << 63;
    let flip = u64::from(one.mods.neg >> n & 1 != 0) << 63;
    over(&w.lanes64(one.src[n]), |bits| bits & !clear ^ flip)
}

fn double_to_compare(w: &Wave, one: &Compare, n: usize) -> Lanes64 {
    let mut value = double(w, one, n);
    if w.mode.denormals & 4 == 0 {
        flush64(&mut value);
    }
    value
}

/// The bit of a float's class. The classes from bit 0 on are signalling NaN, quiet NaN, -infinity, -normal, -denormal,
/// -0, and then +0 to +infinity.
fn class(bits: u64, mantissa: u32, exponent: u32) -> u32 {
    let fraction = bits & ((1 << mantissa) - 1);
    let power = bits >> mantissa & ((1 << exponent) - 1);
    let negative = bits >> (mantissa + exponent) & 1 != 0;
    if power == (1 << exponent) - 1 && fraction != 0 {
        return 1 << (fraction >> (mantissa - 1));
    }
    let kind = match (power, fraction) {
        (0, 0) => 0,
        (0, _) => 1,
        _ if power == (1 << exponent) - 1 => 3,
        _ => 2,
    };
    if negative {
        1 << (5 - kind)
    } else {
        1 << (6 + kind)
    }
}

/// Executes a comparison.
pub(in crate::gfx11) fn compare(w: &mut Wave, one: &Compare) {
    let accepts = one.op.accepts;
    let (a, b) = (|| source(w, one, 0), || source(w, one, 1));
    let mask = match one.op.kind {
        Kind::U32 => {
            let (a, b) = (a(), b());
            test(accepts, |lane| (a[lane], b[lane]))
        }
        Kind::I32 => {
            let (a, b) = (a(), b());
            test(accepts, |lane| (a[lane] as i32, b[lane] as i32))
        }
        Kind::F32 => {
            let (a, b) = (float_to_compare(w, one, 0), float_to_compare(w, one, 1));
            test(accepts, |lane| {
                (f32::from_bits(a[lane]), f32::from_bits(b[lane]))
            })
        }
        Kind::U16 => {
            let (a, b) = (half_of(w, one, 0), half_of(w, one, 1));
            test(accepts, |lane| (a[lane], b[lane]))
        }
        Kind::I16 => {
            let (a, b) = (half_of(w, one, 0), half_of(w, one, 1));
            test(accepts, |lane| (a[lane] as i16, b[lane] as i16))
        }
        Kind::F16 => {
            let (a, b) = (half_to_compare(w, one, 0), half_to_compare(w, one, 1));
            test(accepts, |lane| (a[lane], b[lane]))
        }
        _ => wide(w, one),
    };
    w.set_mask(one.sdst, mask);
}

fn wide(w: &Wave, one: &Compare) -> u32 {
    let accepts = one.op.accepts;
    match one.op.kind {
        Kind::F64 => {
            let (a, b) = (double_to_compare(w, one, 0), double_to_compare(w, one, 1));
            test(accepts, |lane| {
                (f64::from_bits(a[lane]), f64::from_bits(b[lane]))
            })
        }
        Kind::I64 => {
            let (a, b) = (w.lanes64(one.src[0]), w.lanes64(one.src[1]));
            test(accepts, |lane| (a[lane] as i64, b[lane] as i64))
        }
        Kind::ClassF16 => {
            let (a, b) = (half_float(w, one, 0), half_of(w, one, 1));
            mask_of(|lane| class(a[lane].into(), 10, 5) & b[lane] != 0)
        }
        Kind::ClassF32 => {
            let (a, b) = (float(w, one, 0, 31), source(w, one, 1));
            mask_of(|lane| class(u64::from(a[lane]), 23, 8) & b[lane] != 0)
        }
        Kind::ClassF64 => {
            let (a, b) = (double(w, one, 0), source(w, one, 1));
            mask_of(|lane| class(a[lane], 52, 11) & b[lane] != 0)
        }
        _ => {
            let (a, b) = (w.lanes64(one.src[0]), w.lanes64(one.src[1]));
            test(accepts, |lane| (a[lane], b[lane]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gfx11::isa::compare::CompareOp;
    use crate::gfx11::isa::operand::Src;

    #[test]
    fn every_float_has_one_class() {
        let of = |x: f32| class(u64::from(x.to_bits()), 23, 8);
        assert_eq!(of(f32::from_bits(0x7f80_0001)), 1);
        assert_eq!(of(f32::NAN), 2);
        assert_eq!(of(f32::NEG_INFINITY), 4);
        assert_eq!(of(-1.0), 8);
        assert_eq!(of(-1e-40), 16);
        assert_eq!(of(-0.0), 32);
        assert_eq!(of(0.0), 64);
        assert_eq!(of(1e-40), 128);
        assert_eq!(of(1.0), 256);
        assert_eq!(of(f32::INFINITY), 512);
    }

    /// The lanes in which v0 (and v1, for 64 bits) is not equal to zero, by a comparison of this kind.
    fn differs_from_zero(kind: Kind, words: [u32; 2], denormals: u8) -> u32 {
        // The condition 13 is `neq`, or `t` for integers.
        let code = match kind {
            Kind::F16 => 0x0d,
            Kind::F32 => 0x1d,
            _ => 0x2d,
        };
        let op = CompareOp::of(code).unwrap();
        assert_eq!(op.kind, kind);
        let mut wave = Wave::filled(words[0], denormals);
        wave.vector[1] = [words[1]; 32];
        let one = Compare {
            op,
            sdst: 7,
            src: [Src::Vector(0), Src::Constant(0)],
            mods: Modifiers::default(),
            dpp: None,
        };
        compare(&mut wave, &one);
        wave.scalar[7]
    }

    // RDNA3 ISA, MODE register: FP_DENORM has two bits for 32-bit floats, and two for 16-bit and 64-bit floats. The
    // lower bit of each pair allows denormal inputs.
    #[test]
    fn a_comparison_flushes_denormals_if_the_mode_of_its_type_does() {
        for (kind, words, of_type) in [
            (Kind::F16, [1, 0], 4),
            (Kind::F32, [1, 0], 1),
            (Kind::F64, [1, 0], 4),
            (Kind::F64, [0, 0x800f_ffff], 4),
        ] {
            assert_eq!(differs_from_zero(kind, words, 15), !0);
            assert_eq!(differs_from_zero(kind, words, 15 & !of_type), 0);
            assert_eq!(differs_from_zero(kind, words, of_type), !0);
        }
    }

    #[test]
    fn a_pair_has_one_outcome() {
        assert_eq!((outcome(1, 2), outcome(2, 2), outcome(3, 2)), (1, 2, 4));
        assert_eq!(outcome(f32::NAN, 1.0), 8);
    }
}
