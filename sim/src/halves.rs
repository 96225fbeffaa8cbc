//! 16-bit floats.

/// The value of an `f16`. An `f32` with the same exponent and fraction bits is 2^112 times too small, so it is scaled.
#[inline(always)]
pub(crate) fn half_value(half: u16) -> f32 {
    let bits = u32::from(half & 0x7fff) << 13;
    let finite = f32::from_bits(bits) * f32::from_bits(0x7780_0000);
    let infinite = 0u32.wrapping_sub(u32::from(bits >= 0x0f80_0000)) & 0x7f80_0000;
    let sign = u32::from(half & 0x8000) << 16;
    f32::from_bits(finite.to_bits() | infinite | sign)
}

/// The value of a finite `f16`, computed with fewer instructions than [`half_value`] needs. The `f16` is the high half
/// of the word `high`, and the low half is ignored.
#[inline(always)]
pub(crate) fn finite_half_value(high: u32) -> f32 {
    f32::from_bits((high as i32 >> 3) as u32 & 0x8fff_e000) * f32::from_bits(0x7780_0000)
}

/// Searches words of two `f16` for infinities and NaNs. `N` words are tested at once, so the loop can be vectorised.
#[derive(Clone, Copy)]
pub(crate) struct Specials<const N: usize>([u32; N]);

impl<const N: usize> Specials<N> {
    pub const NONE: Specials<N> = Specials([0; N]);

    /// Tests more words.
    #[inline(always)]
    pub fn look_at(&mut self, words: &[u32; N]) {
        for (all, word) in self.0.iter_mut().zip(words) {
            // An exponent of all ones overflows into the sign bit.
            *all |= (word & 0x7fff_7fff) + 0x0400_0400;
        }
    }

    /// Whether an infinity or a NaN was found.
    #[inline(always)]
    pub fn are_there(&self) -> bool {
        self.0.iter().fold(0, |all, one| all | one) & 0x8000_8000 != 0
    }
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

    #[test]
    fn every_finite_half_has_its_value_and_the_others_are_special() {
        for bits in 0..=u16::MAX {
            let right = f16::from_bits(bits).to_f32();
            let high = u32::from(bits) << 16;
            for low in [0, 0x1234] {
                let mut specials = Specials::NONE;
                specials.look_at(&[0, 0]);
                specials.look_at(&[low, high | low]);
                specials.look_at(&[0, 0]);
                assert_eq!(specials.are_there(), !right.is_finite());
                assert!(
                    specials.are_there()
                        || finite_half_value(high | low).to_bits() == right.to_bits()
                );
            }
        }
    }
}
