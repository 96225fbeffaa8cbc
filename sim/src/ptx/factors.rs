//! The elements of matrix operands: how registers pack them, and the type in which they are multiplied.

use crate::halves::{finite_half_value, half_value};

/// A packing of elements in a 32-bit register.
pub(super) trait Form {
    /// The type in which an element is multiplied.
    type Element: Copy + Default;
    /// Element `part` of a register.
    fn part(word: u32, part: usize) -> Self::Element;
}

/// Two finite `f16`. They are converted with fewer instructions than other values.
pub(super) struct FiniteHalf;
/// Two `f16`, which may be infinite or NaN.
pub(super) struct Half;
/// Two `bf16`.
pub(super) struct Brain;
/// One `tf32`.
pub(super) struct Tensor;
/// Four 8-bit integers.
pub(super) struct Bytes<const SIGNED: bool>;

impl Form for FiniteHalf {
    type Element = f32;

    #[inline(always)]
    fn part(word: u32, part: usize) -> f32 {
        finite_half_value(if part == 0 { word << 16 } else { word })
    }
}

impl Form for Half {
    type Element = f32;

    #[inline(always)]
    fn part(word: u32, part: usize) -> f32 {
        half_value((word >> (16 * part)) as u16)
    }
}

impl Form for Brain {
    type Element = f32;

    #[inline(always)]
    fn part(word: u32, part: usize) -> f32 {
        f32::from_bits(word >> (16 * part) << 16)
    }
}

impl Form for Tensor {
    type Element = f32;

    // The lowest 13 bits of a `tf32` are undefined (5.2.3). The hardware ignores them.
    #[inline(always)]
    fn part(word: u32, _: usize) -> f32 {
        f32::from_bits(word & 0xffff_e000)
    }
}

impl<const SIGNED: bool> Form for Bytes<SIGNED> {
    type Element = i32;

    #[inline(always)]
    fn part(word: u32, part: usize) -> i32 {
        let byte = (word >> (8 * part)) as u8;
        match SIGNED {
            true => i32::from(byte as i8),
            false => i32::from(byte),
        }
    }
}
