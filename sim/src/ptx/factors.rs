//! The elements of matrices, as they lie in registers and as they are multiplied.

use crate::halves::half_value;

/// How elements lie in a register.
pub(super) trait Form {
    /// An element as it is multiplied.
    type Element: Copy + Default;
    /// The elements of one lane.
    const PARTS: usize;
    /// An element of a lane.
    fn part(word: u32, part: usize) -> Self::Element;
}

/// Two `f16`, each 2^-112 of its value: its exponent and fraction are those of an `f32` then, so that the compiler
/// vectorises what reads them. Infinities and NaN have none.
pub(super) struct SmallHalf;
/// Two `f16`.
pub(super) struct Half;
/// Two `bf16`.
pub(super) struct Brain;
/// A `tf32`.
pub(super) struct Tensor;
/// Four integers of 8 bits.
pub(super) struct Bytes<const SIGNED: bool>;

/// What the product of two [`SmallHalf`] is multiplied with: 2^224.
pub(super) const UNSCALE: f64 = f64::from_bits((1023 + 224) << 52);

/// Whether registers hold an `f16` that is infinite or not a number.
#[inline(always)]
pub(super) fn has_special_halves(row: &[u32; 32]) -> bool {
    // The largest exponent overflows into the sign.
    let mut overflow = 0;
    for word in row {
        overflow |= (word & 0x7fff_7fff) + 0x0400_0400;
    }
    overflow & 0x8000_8000 != 0
}

impl Form for SmallHalf {
    type Element = f64;
    const PARTS: usize = 2;

    #[inline(always)]
    fn part(word: u32, part: usize) -> f64 {
        let top = if part == 0 { word << 16 } else { word };
        f32::from_bits((top as i32 >> 3) as u32 & 0x8fff_e000).into()
    }
}

impl Form for Half {
    type Element = f64;
    const PARTS: usize = 2;

    #[inline(always)]
    fn part(word: u32, part: usize) -> f64 {
        half_value((word >> (16 * part)) as u16).into()
    }
}

impl Form for Brain {
    type Element = f64;
    const PARTS: usize = 2;

    #[inline(always)]
    fn part(word: u32, part: usize) -> f64 {
        f32::from_bits(word >> (16 * part) << 16).into()
    }
}

impl Form for Tensor {
    type Element = f64;
    const PARTS: usize = 1;

    // The low 13 bits of a `tf32` are not defined (5.2.3); the hardware ignores them.
    #[inline(always)]
    fn part(word: u32, _: usize) -> f64 {
        f32::from_bits(word & 0xffff_e000).into()
    }
}

impl<const SIGNED: bool> Form for Bytes<SIGNED> {
    type Element = i32;
    const PARTS: usize = 4;

    #[inline(always)]
    fn part(word: u32, part: usize) -> i32 {
        let byte = (word >> (8 * part)) as u8;
        match SIGNED {
            true => i32::from(byte as i8),
            false => i32::from(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use half::f16;

    use super::*;

    #[test]
    fn a_half_is_read_as_a_small_float_unless_it_is_special() {
        for bits in 0..=u16::MAX {
            let right = f16::from_bits(bits).to_f64();
            let word = u32::from(bits) << 16 | u32::from(bits);
            let special = has_special_halves(&[word; 32]);
            assert_eq!(special, !right.is_finite());
            for part in [0, 1] {
                let small = SmallHalf::part(word, part) * UNSCALE.sqrt();
                assert!(special || small.to_bits() == right.to_bits());
            }
        }
    }
}
