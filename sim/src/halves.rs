//! Floats of 16 bits.

/// The value of an `f16`: its exponent and fraction as those of an `f32`, which is then 2^112 times too small.
#[inline(always)]
pub(crate) fn half_value(half: u16) -> f32 {
    let bits = u32::from(half & 0x7fff) << 13;
    let finite = f32::from_bits(bits) * f32::from_bits(0x7780_0000);
    let infinite = 0u32.wrapping_sub(u32::from(bits >= 0x0f80_0000)) & 0x7f80_0000;
    let sign = u32::from(half & 0x8000) << 16;
    f32::from_bits(finite.to_bits() | infinite | sign)
}

#[cfg(test)]
mod tests {
    use half::f16;

    use super::*;

    #[test]
    fn every_half_has_its_value() {
        for bits in 0..=u16::MAX {
            let (mine, right) = (half_value(bits), f16::from_bits(bits).to_f32());
            assert!(
                mine == right && mine.is_sign_negative() == right.is_sign_negative()
                    || mine.is_nan() && right.is_nan()
            );
        }
    }
}
