//! Fused multiply-add of 32-bit floats, for all lanes of a warp.
//!
//! If the target of the build has no fused instruction, `f32::mul_add` calls a library function for each lane. This
//! module therefore checks at run time whether the processor has such an instruction, and uses it. Otherwise it
//! computes in 64 bits, because the product of two 32-bit floats is exact in 64 bits. The 64-bit sum, rounded to 32
//! bits, is the fused result, unless the sum lies exactly halfway between two 32-bit floats or the result is denormal.
//! Such lanes are computed again with `f32::mul_add`.

use pulp::{Simd, WithSimd};

use crate::lanes::{Aligned, LANES};
use crate::wide::wide;

/// The bits of a float in each lane.
type Lanes = [u32; LANES];

/// The significand bits of a 64-bit float that a 32-bit float does not have.
const DROPPED: u64 = (1 << 29) - 1;
/// The value of these bits if the 64-bit float lies halfway between two 32-bit floats.
const HALFWAY: u64 = 1 << 28;

/// `a * b + c` of every lane, rounded once.
#[inline]
pub(crate) fn fma32(a: &Lanes, b: &Lanes, c: &Lanes) -> Lanes {
    let mut out = Aligned([0; LANES]);
    if !wide(Fused {
        a,
        b,
        c,
        out: &mut out.0,
    }) {
        in_64_bits(a, b, c, &mut out.0);
    }
    out.0
}

struct Fused<'a> {
    a: &'a Lanes,
    b: &'a Lanes,
    c: &'a Lanes,
    out: &'a mut Lanes,
}

impl WithSimd for Fused<'_> {
    /// Whether the results are valid. They are invalid if the processor has no fused instruction, or if a result is
    /// NaN, because the bits of NaNs differ between processors.
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        if S::IS_SCALAR {
            return false;
        }
        let (a, b, c) = (
            S::as_simd_f32s(bytemuck::cast_slice(self.a)).0,
            S::as_simd_f32s(bytemuck::cast_slice(self.b)).0,
            S::as_simd_f32s(bytemuck::cast_slice(self.c)).0,
        );
        let to = S::as_mut_simd_f32s(bytemuck::cast_slice_mut(self.out)).0;
        for (to, ((&a, &b), &c)) in to.iter_mut().zip(a.iter().zip(b).zip(c)) {
            *to = simd.mul_add_f32s(a, b, c);
        }
        let mut special = false;
        for bits in self.out {
            special |= *bits & 0x7fff_ffff > 0x7f80_0000;
        }
        LANES.is_multiple_of(S::F32_LANES) && !special
    }
}

fn in_64_bits(a: &Lanes, b: &Lanes, c: &Lanes, result: &mut Lanes) {
    let mut doubtful = 0u32;
    for lane in 0..32 {
        let wide = |bits: u32| f64::from(f32::from_bits(bits));
        let sum = wide(a[lane]) * wide(b[lane]) + wide(c[lane]);
        let narrow = (sum as f32).to_bits();
        let bits = sum.to_bits();
        // The compiler vectorises a comparison of the low 32 bits better than one of 64 bits.
        let halfway = u32::from(bits as u32 & DROPPED as u32 == HALFWAY as u32);
        let denormal = u32::from(narrow & 0x7f80_0000 == 0) & u32::from(bits << 1 != 0);
        doubtful |= halfway | denormal;
        result[lane] = narrow;
    }
    if doubtful != 0 {
        for lane in 0..32 {
            let float = |bits: u32| f32::from_bits(bits);
            result[lane] = float(a[lane])
                .mul_add(float(b[lane]), float(c[lane]))
                .to_bits();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn one(a: f32, b: f32, c: f32) -> u32 {
        let [a, b, c] = [a, b, c].map(|x| [x.to_bits(); 32]);
        let mut other = [0; 32];
        in_64_bits(&a, &b, &c, &mut other);
        let (mine, other) = (fma32(&a, &b, &c)[0], other[0]);
        let nan = |bits| f32::from_bits(bits).is_nan();
        assert!(mine == other || nan(mine) && nan(other));
        mine
    }

    #[test]
    fn a_sum_halfway_between_two_floats_is_rounded_by_what_was_lost() {
        // 1 + 2^-24 is halfway between two floats. The product adds 2^-60, which a 64-bit sum loses.
        let a = 1.0 + f32::EPSILON;
        let c = f32::from_bits(0x3380_0000);
        for (x, y, z) in [
            (a, a, c),
            (1.0, 1.0, c),
            (2f32.powi(-60), 1.0, 1.0 + f32::EPSILON),
            (-1e-30, 1e-30, c),
        ] {
            assert_eq!(one(x, y, z), x.mul_add(y, z).to_bits());
        }
        let halfway = 16_777_216.0f32;
        assert_eq!(one(2f32.powi(-40), 1.0, halfway), halfway.to_bits());
        assert_eq!(
            one(1.0 + 2f32.powi(-20), 1.0 + 2f32.powi(-20), halfway),
            0x4b80_0001
        );
    }

    proptest! {
        #[test]
        fn every_lane_is_rounded_once(a in any::<u32>(), b in any::<u32>(), c in any::<u32>()) {
            let (x, y, z) = (f32::from_bits(a), f32::from_bits(b), f32::from_bits(c));
            let expected = x.mul_add(y, z);
            let got = f32::from_bits(one(x, y, z));
            prop_assert!(got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan());
        }

        #[test]
        fn near_cancellation_every_lane_is_rounded_once(a in 0x3f80_0000u32..0x4000_0000, b in 0x3f80_0000u32..0x4000_0000, d in -3i32..3) {
            let (x, y) = (f32::from_bits(a), f32::from_bits(b));
            let z = -f32::from_bits((x * y).to_bits().wrapping_add_signed(d));
            prop_assert_eq!(one(x, y, z), x.mul_add(y, z).to_bits());
        }
    }
}
