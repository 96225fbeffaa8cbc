//! The sequential test behind a claim: a bet on every process, and Ville's inequality.
//!
//! Wealth starts at 1 and is multiplied by [`ON_WIN`] when a process finds the challenger faster by
//! more than delta, by [`ON_LOSS`] otherwise. If a win is no likelier than 1/2, the expected factor is
//! at most 1, wealth is a supermartingale, and the chance that it *ever* reaches 100 is at most 1 %
//! (Ville), whatever the noise and whenever one looks. For `m` claims in one run the bar is 100·m.
//!
//! **Pairs.** Processes come in pairs that differ only in the order in which the two sides are loaded
//! and allocated: the second of a pair has the orders of the first reversed. If the sides are equal, swapping
//! them maps one process of the pair onto the other with the sign of the effect turned, so the two win chances
//! p and q satisfy p + q <= 1, and the expected factor of the pair, (0.2 + 1.6 p)(0.2 + 1.6 q), is at most 1.
//! Wealth is a supermartingale *from pair to pair*, so FASTER is said only after whole pairs. Independent orders
//! satisfy the same bound only barely: a 2 % load-order effect makes every process a coin of chance 0.42,
//! and 0.15 % of identical kernels pass. In pairs, the effect wins one and loses the other: 1e-12.

use serde::{Deserialize, Serialize};

/// Factor on wealth after a win.
pub const ON_WIN: f64 = 1.8;
/// Factor on wealth after a loss; with [`ON_WIN`] it averages 1.
pub const ON_LOSS: f64 = 0.2;
/// Wealth that proves one claim.
pub const PROVEN: f64 = 100.0;
/// Wealth at which a claim is given up.
pub const RUINED: f64 = 0.002;

/// What the test says after the processes so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Undecided: run another process.
    Open,
    /// The challenger is faster by more than delta in the median process.
    Proven,
    /// Not proven, and no further process will be run.
    Unproven,
}

/// The wealth of one claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wealth {
    /// Claims made in the same run; the bar is this many times higher.
    pub claims: u32,
    /// Most processes that are run.
    pub most: u32,
    /// Processes won.
    pub wins: u32,
    /// Processes lost.
    pub losses: u32,
}

impl Wealth {
    /// The wealth before the first process.
    pub fn new(claims: u32, most: u32) -> Self {
        let claims = claims.max(1);
        Self {
            claims,
            most,
            wins: 0,
            losses: 0,
        }
    }

    /// Counts one process.
    pub fn bet(&mut self, won: bool) {
        if won {
            self.wins += 1;
        } else {
            self.losses += 1;
        }
    }

    /// Processes so far.
    pub fn processes(&self) -> u32 {
        self.wins + self.losses
    }

    /// The wealth now.
    pub fn value(&self) -> f64 {
        factor(self.wins, self.losses)
    }

    /// The wealth that proves the claim.
    pub fn bar(&self) -> f64 {
        PROVEN * f64::from(self.claims)
    }

    /// The verdict so far. Gives up at [`RUINED`], at the most processes allowed, and as soon as
    /// winning all processes that are left could not reach the bar.
    pub fn standing(&self) -> Standing {
        let bar = self.bar();
        if self.processes().is_multiple_of(2) && self.value() >= bar {
            return Standing::Proven;
        }
        let left = self.most.saturating_sub(self.processes());
        let whole_pairs = left - (self.processes() + left) % 2;
        let reachable = left > 0 && factor(self.wins + whole_pairs, self.losses) >= bar;
        if self.value() <= RUINED || !reachable {
            return Standing::Unproven;
        }
        Standing::Open
    }
}

/// Wealth after some wins and losses.
pub(super) fn factor(wins: u32, losses: u32) -> f64 {
    let power = |base: f64, n: u32| base.powi(i32::try_from(n).unwrap_or(i32::MAX));
    power(ON_WIN, wins) * power(ON_LOSS, losses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Exact chance that the test ends in `Proven`, if the two processes of a pair win with
    /// chances `first` and `second`, by enumeration of all outcomes.
    fn proven(start: Wealth, first: f64, second: f64) -> f64 {
        let chance = if start.processes().is_multiple_of(2) {
            first
        } else {
            second
        };
        let after = |won: bool| {
            let mut next = start;
            next.bet(won);
            match next.standing() {
                Standing::Proven => 1.0,
                Standing::Unproven => 0.0,
                Standing::Open => proven(next, first, second),
            }
        };
        chance * after(true) + (1.0 - chance) * after(false)
    }

    #[test]
    fn a_fair_coin_is_called_faster_in_at_most_one_percent() {
        let exact = proven(Wealth::new(1, 24), 0.5, 0.5);
        println!("exact false accept at win chance 1/2: {exact:.5}");
        assert!(exact <= 0.01 && exact > 0.005, "{exact}");
    }

    #[test]
    fn a_fair_coin_in_a_run_of_many_claims_is_called_faster_in_at_most_one_percent_of_runs() {
        for claims in [2, 5, 20, 100] {
            let exact = proven(Wealth::new(claims, 24), 0.5, 0.5) * f64::from(claims);
            assert!(exact <= 0.01, "{claims} claims: {exact}");
        }
    }

    #[test]
    fn a_real_gain_is_proven() {
        let at = |chance| proven(Wealth::new(1, 24), chance, chance);
        println!(
            "exact accept at win chance 0.9: {:.4}, 0.95: {:.4}",
            at(0.9),
            at(0.95)
        );
        assert!(at(0.9) >= 0.93 && at(0.95) >= 0.99 && at(0.99) >= 0.9999);
    }

    #[test]
    fn an_effect_of_the_load_order_alone_proves_nothing() {
        let exact = proven(Wealth::new(1, 24), 0.84, 0.001);
        assert!(exact < 1e-9, "{exact}");
    }

    #[test]
    fn four_losses_in_a_row_end_it() {
        let mut wealth = Wealth::new(1, 24);
        for _ in 0..3 {
            wealth.bet(false);
            assert_eq!(wealth.standing(), Standing::Open);
        }
        wealth.bet(false);
        assert_eq!(wealth.standing(), Standing::Unproven);
    }

    #[test]
    fn eight_wins_in_a_row_prove_it_and_seven_do_not() {
        let mut wealth = Wealth::new(1, 24);
        for _ in 0..7 {
            wealth.bet(true);
            assert_eq!(wealth.standing(), Standing::Open);
        }
        wealth.bet(true);
        assert_eq!(wealth.standing(), Standing::Proven);
    }

    #[test]
    fn giving_up_early_never_gives_up_what_could_still_be_proven() {
        for claims in [1, 3, 50] {
            for wins in 0..=24u32 {
                for losses in 0..=(24 - wins) {
                    let wealth = Wealth {
                        claims,
                        most: 24,
                        wins,
                        losses,
                    };
                    let could = (0..=(24 - wins - losses)).any(|more| {
                        (wins + more + losses) % 2 == 0
                            && factor(wins + more, losses) >= 100.0 * f64::from(claims)
                    });
                    let ruined = wealth.value() <= RUINED;
                    assert_eq!(wealth.standing() == Standing::Unproven, ruined || !could);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn the_expected_factor_of_a_pair_with_complementary_chances_is_at_most_one(p in 0.0..=1.0f64, slack in 0.0..=1.0f64) {
            let q = (1.0 - p) * slack;
            let mean = |chance: f64| ON_WIN * chance + ON_LOSS * (1.0 - chance);
            prop_assert!(mean(p) * mean(q) <= 1.0 + 1e-12);
        }

        #[test]
        fn villes_bound_holds_exactly_for_any_complementary_pair(p in 0.0..=1.0f64, claims in 1u32..10) {
            let exact = proven(Wealth::new(claims, 16), p, 1.0 - p);
            prop_assert!(exact <= 0.01 / f64::from(claims) + 1e-12, "{exact}");
        }
    }
}
