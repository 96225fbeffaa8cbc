//! VOP3P: pairs of 16-bit operations, and dot products.
//!
//! AMD, "RDNA3 Instruction Set Architecture", VOP3P.

use super::float16::{fma, max, min, narrow, wide};
use super::packed_operands::{limit, parts, set, source};
use super::{mixed, wmma};
use crate::FaultKind;
use crate::gfx11::isa::instruction::Packed;
use crate::gfx11::isa::packed::PackedOp;
use crate::gfx11::wave::Wave;
use crate::lanes::each;

/// The halves of a source that the low and the high operation read, before negation.
fn halves(one: &Packed, n: usize, bits: u32) -> (u32, u32) {
    let half = |select: u8| {
        if select >> n & 1 != 0 {
            bits >> 16
        } else {
            bits & 0xffff
        }
    };
    (half(one.select_low), half(one.select_high))
}

/// The halves of a float source, negated as the instruction specifies.
fn float_halves(one: &Packed, n: usize, bits: u32) -> (u32, u32) {
    let (low, high) = halves(one, n, bits);
    let sign = |neg: u8| u32::from(neg >> n & 1) << 15;
    (low ^ sign(one.neg_low), high ^ sign(one.neg_high))
}

#[inline(always)]
fn two(w: &mut Wave, one: &Packed, f: impl Fn(u16, u16) -> u16) {
    let (a, b) = (source(w, one, 0), source(w, one, 1));
    let value = each(|lane| {
        let (a, b) = (halves(one, 0, a[lane]), halves(one, 1, b[lane]));
        u32::from(f(a.0 as u16, b.0 as u16)) | u32::from(f(a.1 as u16, b.1 as u16)) << 16
    });
    set(w, one, &value);
}

#[inline(always)]
fn three(w: &mut Wave, one: &Packed, f: impl Fn(u16, u16, u16) -> u16) {
    let (a, b, c) = (source(w, one, 0), source(w, one, 1), source(w, one, 2));
    let value = each(|lane| {
        let (a, b, c) = (
            halves(one, 0, a[lane]),
            halves(one, 1, b[lane]),
            halves(one, 2, c[lane]),
        );
        let low = f(a.0 as u16, b.0 as u16, c.0 as u16);
        u32::from(low) | u32::from(f(a.1 as u16, b.1 as u16, c.1 as u16)) << 16
    });
    set(w, one, &value);
}

#[inline(always)]
fn floats(w: &mut Wave, one: &Packed, sources: usize, f: impl Fn(f64, f64, f64) -> f64) {
    let (a, b) = (source(w, one, 0), source(w, one, 1));
    let c = if sources == 3 {
        source(w, one, 2)
    } else {
        [0; 32]
    };
    let limit = limit(w, one);
    let value = each(|lane| {
        let (a, b) = (float_halves(one, 0, a[lane]), float_halves(one, 1, b[lane]));
        let c = float_halves(one, 2, c[lane]);
        let low = narrow(limit(f(wide(a.0), wide(b.0), wide(c.0))));
        low | narrow(limit(f(wide(a.1), wide(b.1), wide(c.1)))) << 16
    });
    set(w, one, &value);
}

/// A dot product of 32-bit sources, plus an addend.
#[inline(always)]
fn dot(w: &mut Wave, one: &Packed, f: impl Fn(u32, u32, u32) -> u32) {
    let (a, b, c) = (source(w, one, 0), source(w, one, 1), source(w, one, 2));
    let value = each(|lane| f(a[lane], b[lane], c[lane]));
    set(w, one, &value);
}

fn signed(f: impl Fn(i16, i16) -> i16) -> impl Fn(u16, u16) -> u16 {
    move |a, b| f(a as i16, b as i16) as u16
}

/// The dot product of the small integers in two words.
pub(super) fn integer_dot(a: u32, b: u32, bits: u32, signs: [bool; 2]) -> i64 {
    parts(a, bits, signs[0])
        .zip(parts(b, bits, signs[1]))
        .map(|(a, b)| a * b)
        .sum()
}

fn integers(w: &mut Wave, one: &Packed, bits: u32, is_signed: bool) {
    let signs = [0, 1].map(|n| is_signed && one.neg_low >> n & 1 != 0);
    let clamp = one.clamp;
    dot(w, one, |a, b, c| {
        let sum = integer_dot(a, b, bits, signs);
        match is_signed {
            true if clamp => {
                (sum + i64::from(c as i32)).clamp(i32::MIN.into(), i32::MAX.into()) as u32
            }
            false if clamp => (sum + i64::from(c)).min(u32::MAX.into()) as u32,
            _ => (sum as u32).wrapping_add(c),
        }
    });
}

/// Executes a VOP3P instruction.
pub(in crate::gfx11) fn packed(w: &mut Wave, one: &Packed) -> Result<(), FaultKind> {
    use PackedOp::*;
    match one.op {
        FmaMixF32 | FmaMixloF16 | FmaMixhiF16 => mixed::mixed(w, one),
        op if op.is_matrix() => return wmma::wmma(w, one),
        FmaF16 => floats(w, one, 3, fma),
        AddF16 => floats(w, one, 2, |a, b, _| a + b),
        MulF16 => floats(w, one, 2, |a, b, _| a * b),
        MinF16 => floats(w, one, 2, |a, b, _| min(a, b)),
        MaxF16 => floats(w, one, 2, |a, b, _| max(a, b)),
        Dot2F32F16 | Dot2F32Bf16 => mixed::dot2(w, one),
        Dot4I32Iu8 => integers(w, one, 8, true),
        Dot4U32U8 => integers(w, one, 8, false),
        Dot8I32Iu4 => integers(w, one, 4, true),
        Dot8U32U4 => integers(w, one, 4, false),
        AddU16 if one.clamp => two(w, one, u16::saturating_add),
        SubU16 if one.clamp => two(w, one, u16::saturating_sub),
        AddI16 if one.clamp => two(w, one, signed(i16::saturating_add)),
        SubI16 if one.clamp => two(w, one, signed(i16::saturating_sub)),
        _ if one.clamp => {
            return Err(FaultKind::NotImplemented {
                what: format!("{} with clamp", one.op.name()),
            });
        }
        MulLoU16 => two(w, one, u16::wrapping_mul),
        AddI16 | AddU16 => two(w, one, u16::wrapping_add),
        SubI16 | SubU16 => two(w, one, u16::wrapping_sub),
        LshlrevB16 => two(w, one, |a, b| b << (a & 15)),
        LshrrevB16 => two(w, one, |a, b| b >> (a & 15)),
        AshrrevI16 => two(w, one, |a, b| (b as i16 >> (a & 15)) as u16),
        MaxI16 => two(w, one, signed(i16::max)),
        MinI16 => two(w, one, signed(i16::min)),
        MaxU16 => two(w, one, u16::max),
        MinU16 => two(w, one, u16::min),
        _ => three(w, one, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gfx11::isa::operand::Src;

    /// The result of an instruction with the clamp modifier, whose three sources have the same bits.
    fn clamped_result(op: PackedOp, bits: u32, clamp_nan: bool) -> u32 {
        let mut wave = Wave::filled(bits, 15);
        wave.mode.clamp_nan = clamp_nan;
        let one = Packed {
            op,
            dst: 1,
            src: [Src::Vector(0); 3],
            neg_low: 0,
            neg_high: 0,
            select_low: 0,
            select_high: 7,
            clamp: true,
            dpp: None,
        };
        packed(&mut wave, &one).unwrap();
        wave.vector[1][0]
    }

    // RDNA3 ISA, MODE register: with DX10_CLAMP, the clamp modifier turns a NaN into 0.
    #[test]
    fn a_clamped_nan_becomes_zero_unless_the_mode_keeps_it() {
        const NANS: u32 = 0x7e00_7e00;
        const ONES: u32 = 0x3c00_3c00;
        assert_eq!(clamped_result(PackedOp::AddF16, ONES, true), ONES);
        assert_eq!(clamped_result(PackedOp::AddF16, NANS, true), 0);
        assert_eq!(clamped_result(PackedOp::AddF16, NANS, false), NANS);
        // Both halves are selected as operands of the mixed product: NaN * NaN + NaN.
        assert_eq!(clamped_result(PackedOp::FmaMixF32, NANS, true), 0);
        let kept = clamped_result(PackedOp::FmaMixF32, NANS, false);
        assert!(f32::from_bits(kept).is_nan());
    }

    // RDNA3 ISA, "Output Modifiers": the clamp modifier of an integer instruction saturates its result.
    #[test]
    fn clamped_sums_of_16_bits_saturate() {
        let sum = |op, bits| clamped_result(op, bits, true);
        assert_eq!(sum(PackedOp::AddU16, 0x9000_0003), 0xffff_0006);
        assert_eq!(sum(PackedOp::AddI16, 0x9000_7000), 0x8000_7fff);
        assert_eq!(sum(PackedOp::SubU16, 0x9000_7000), 0);
        assert_eq!(sum(PackedOp::SubI16, 0x9000_7000), 0);
    }

    #[test]
    fn small_integers_are_multiplied_with_their_signs() {
        assert_eq!(
            integer_dot(0xff02_0304, 0x0201_0101, 8, [true, true]),
            3 + 4
        );
        assert_eq!(
            integer_dot(0xff02_0304, 0x0201_0101, 8, [false, false]),
            510 + 9
        );
        assert_eq!(
            integer_dot(0xf000_0001, 0x1000_0007, 4, [true, false]),
            -1 + 7
        );
    }
}
