//! The evidence that the next claim of a run needs, given the claims that were proven before it.
//!
//! A claim says that one config is faster than another. Of the claims that a run proves, at most one in a hundred is
//! wrong on average. The method is e-LOND (Z. Xu and A. Ramdas, "Online multiple testing with e-values", AISTATS 2024).
//! If a run has `m` claims in all and has proven `r` of them so far, the next claim needs a wealth of 100·m / (r + 1).
//! The bound holds for any dependence between the claims. [`wealth`](super::wealth) defines the wealth, which measures
//! evidence.
//!
//! In a run in which no config is faster, every claim needs the full 100·m. In a run that proves most of its claims,
//! the last claims would need little more wealth than a single claim. The required wealth therefore has a lower limit:
//! it never falls below the wealth for [`MIN_CLAIMS`] claims, so each single claim is wrong with a chance of at most
//! one in a thousand. If the run has fewer claims than that, the limit is the wealth for the run's number of claims.

use std::sync::atomic::{AtomicU32, Ordering};

/// The smallest number of claims for which the required wealth is computed, unless the run has fewer claims; see the
/// module's documentation.
pub const MIN_CLAIMS: u32 = 10;

/// The number of claims of a run, and how many of them are proven.
#[derive(Debug)]
pub struct Claims {
    all: u32,
    proven: AtomicU32,
}

impl Claims {
    /// A run of `all` claims, none of which is proven yet.
    pub fn new(all: u32) -> Claims {
        Claims {
            all: all.max(1),
            proven: AtomicU32::new(0),
        }
    }

    /// The factor between the wealth that the next claim needs and the wealth that a single claim needs. Call this
    /// function once per claim, when its confirmation begins.
    pub fn next(&self) -> u32 {
        let share = self.all.div_ceil(self.proven.load(Ordering::Relaxed) + 1);
        share.max(MIN_CLAIMS.min(self.all))
    }

    /// Records that a claim was proven.
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
