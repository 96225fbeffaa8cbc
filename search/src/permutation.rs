//! A random permutation of `0..n` that needs constant memory.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

const ROUNDS: usize = 6;

/// A keyed permutation of `0..n`. It is a Feistel network over the smallest power of four that is at least `n` (and
/// at least 4), restricted to `0..n` by cycle-walking. Its memory does not depend on `n`.
#[derive(Clone, Debug)]
pub struct Permutation {
    len: u64,
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// Creates a permutation of `0..len` with keys from `rng`.
    pub fn new(len: usize, rng: &mut ChaCha8Rng) -> Self {
        let bits = u64::BITS - (len as u64).saturating_sub(1).leading_zeros();
        Self {
            len: len as u64,
            half_bits: bits.div_ceil(2).max(1),
            keys: std::array::from_fn(|_| rng.random()),
        }
    }

    /// The element at `place`; `None` if `place` is not less than the length.
    pub fn at(&self, place: usize) -> Option<usize> {
        let mut value = place as u64;
        if value >= self.len {
            return None;
        }
        loop {
            value = self.scramble(value);
            if value < self.len {
                return usize::try_from(value).ok();
            }
        }
    }

    /// The place of an element, which must be less than the length. This is the inverse of [`at`](Self::at).
    pub fn place_of(&self, element: usize) -> usize {
        let mut value = element as u64;
        loop {
            value = self.unscramble(value);
            if value < self.len {
                return usize::try_from(value).expect("a place below the length should fit");
            }
        }
    }

    /// A bijection on the integers of `2 * half_bits` bits.
    fn scramble(&self, value: u64) -> u64 {
        let mask = u64::MAX >> (u64::BITS - self.half_bits);
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for key in self.keys {
            (left, right) = (right, left ^ (mix(right ^ key) & mask));
        }
        left << self.half_bits | right
    }

    fn unscramble(&self, value: u64) -> u64 {
        let mask = u64::MAX >> (u64::BITS - self.half_bits);
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for key in self.keys.iter().rev() {
            (left, right) = (right ^ (mix(left ^ key) & mask), left);
        }
        left << self.half_bits | right
    }
}

/// The finaliser of the splitmix64 generator.
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng;

    fn permutation(len: usize, seed: u64) -> Permutation {
        Permutation::new(len, &mut ChaCha8Rng::seed_from_u64(seed))
    }

    proptest! {
        #[test]
        fn every_element_comes_exactly_once(len in 0usize..3_000, seed in any::<u64>()) {
            let permutation = permutation(len, seed);
            let mut seen: Vec<usize> = (0..len).map(|place| permutation.at(place).unwrap()).collect();
            prop_assert_eq!(permutation.at(len), None);
            prop_assert!(seen.iter().enumerate().all(|(place, &element)| permutation.place_of(element) == place));
            seen.sort_unstable();
            prop_assert!(seen.into_iter().eq(0..len));
        }

        #[test]
        fn elements_of_a_huge_space_stay_inside_it(len in 1usize << 40..1 << 62, place in 0usize..1 << 40) {
            prop_assert!(permutation(len, 1).at(place).unwrap() < len);
        }
    }

    #[test]
    fn the_first_element_is_spread_evenly_over_seeds() {
        let mut counts = [0u32; 10];
        for seed in 0..10_000 {
            counts[permutation(10, seed).at(0).unwrap()] += 1;
        }
        // 1,000 are expected; the bounds are five standard deviations of a binomial distribution of 10,000 and 1/10.
        assert!(
            counts.iter().all(|&count| (850..=1150).contains(&count)),
            "{counts:?}"
        );
    }
}
