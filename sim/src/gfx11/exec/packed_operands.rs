//! Operands of VOP3P instructions.

use super::vector::{clamped, permuted, written};
use crate::gfx11::isa::instruction::Packed;
use crate::gfx11::wave::{Lanes, Wave};

/// The value of source `n`.
pub(super) fn source(w: &Wave, one: &Packed, n: usize) -> Lanes {
    let value = w.lanes(one.src[n]);
    match &one.dpp {
        Some(dpp) if n == 0 => permuted(&value, dpp, w.exec()),
        _ => value,
    }
}

/// The clamp modifier of an instruction, for its float results.
#[inline(always)]
pub(super) fn limit(w: &Wave, one: &Packed) -> impl Fn(f64) -> f64 + use<> {
    let (clamp, nan_is_zero) = (one.clamp, w.mode.clamp_nan);
    move |x| {
        if clamp { clamped(x, nan_is_zero) } else { x }
    }
}

/// Writes a result.
pub(super) fn set(w: &mut Wave, one: &Packed, value: &Lanes) {
    let mask = match &one.dpp {
        Some(dpp) => written(dpp, w.exec()),
        None => w.exec(),
    };
    w.put(one.dst, value, mask);
}

/// The `bits`-bit integers in a word, signed or unsigned.
pub(super) fn parts(word: u32, bits: u32, is_signed: bool) -> impl Iterator<Item = i64> {
    (0..32 / bits).map(move |i| {
        let part = word >> (i * bits) & ((1 << bits) - 1);
        let unused = 32 - bits;
        if is_signed {
            i64::from((part << unused) as i32 >> unused)
        } else {
            i64::from(part)
        }
    })
}
