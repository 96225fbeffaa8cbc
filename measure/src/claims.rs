//! The threshold of the next claim of a run.
//!
//! Of the claims that a run makes at most one in a hundred is wrong, on average: e-LOND (Z. Xu and A. Ramdas, "Online
//! multiple testing with e-values", AISTATS 2024). With `m` claims to come and `r` proven so far, the next one needs a
//! wealth of 100·m / (r + 1), however the claims depend on each other. A run in which nothing is faster proves nothing
//! at its first bar, 100·m; one that proves most of its claims needs little more for each than for a single one.
//!
//! The bar never falls below that of [`MIN_CLAIMS`] claims: a search in itself is then wrong at most once in a
//! thousand. A run of fewer claims keeps the bar of its own number.

use std::sync::atomic::{AtomicU32, Ordering};

/// See the module's documentation.
pub const MIN_CLAIMS: u32 = 10;

/// The claims of a run.
#[derive(Debug)]
pub struct Claims {
    all: u32,
    proven: AtomicU32,
}

impl Claims {
    /// That many claims, none of them proven yet.
    pub fn new(all: u32) -> Claims {
        Claims {
            all: all.max(1),
            proven: AtomicU32::new(0),
        }
    }

    /// How many times the bar of a single claim the next one has to reach. Fixed when its confirmation begins.
    pub fn next(&self) -> u32 {
        let share = self.all.div_ceil(self.proven.load(Ordering::Relaxed) + 1);
        share.max(MIN_CLAIMS.min(self.all))
    }

    /// Counts a claim that was proven.
    pub fn proved(&self) {
        self.proven.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_falls_with_what_is_proven_and_never_below_ten_claims() {
        let claims = Claims::new(136);
        let mut bars = Vec::new();
        for _ in 0..20 {
            bars.push(claims.next());
            claims.proved();
        }
        assert_eq!(bars[..5], [136, 68, 46, 34, 28]);
        assert_eq!(bars[13..], [10; 7]);
    }

    #[test]
    fn a_single_claim_keeps_the_bar_of_one() {
        let claims = Claims::new(1);
        assert_eq!(claims.next(), 1);
        claims.proved();
        assert_eq!(claims.next(), 1);
        assert_eq!(Claims::new(0).next(), 1);
    }
}
