//! The sequential test of a claim. It bets on every process and uses Ville's inequality.
//!
//! The wealth starts at 1, and the result of each process multiplies it by a factor. If the claim is wrong, the
//! expected factor of every bet is at most 1 (over a pair of processes, see *Pairs*). Then the wealth is a
//! supermartingale, and the chance that it *ever* reaches 100 is at most 1 % (Ville), whatever the noise is and
//! whenever the test stops. For `m` claims in one run, the wealth must reach 100·m.
//!
//! Two bets, the coin and the far bet, run in parallel, each with a part of the stake. The sum of the two is again such
//! a wealth (V. Vovk and R. Wang, "E-values: calibration, combination and applications", 2021).
//!
//! **Coin.** A process that finds the challenger faster by more than delta (the smallest relevant difference, normally
//! 1 %) is a win. A win multiplies the wealth of this bet by [`ON_WIN`], and any other process multiplies it by
//! [`ON_LOSS`]. If the chance of a win is at most 1/2, the expected factor is at most 1.
//!
//! **Far.** A process that finds the challenger faster by more than [`FAR`] is a far win. It multiplies the wealth of
//! this bet by [`ON_FAR_WIN`], and any other process multiplies it by [`ON_NO_FAR_WIN`]. The bet assumes that, if the
//! claim is wrong, at most one process in [`FAR_ONE_IN`] is a far win. The reason is that the placement of code and
//! data changes the time of an arm by a few percent and seldom by a tenth, and that drift and other programs affect
//! both sides of a block. Thanks to this bet, large effects need fewer processes than small effects: six instead of
//! eighteen in a run of 136 claims.
//!
//! **Pairs.** Processes come in pairs. The second process of a pair reverses the orders in which the first one loads
//! and allocates the two sides, and is otherwise the same. If the sides are equal, swapping them maps one process of
//! the pair to the other and changes the sign of the effect. The chances p and q of a win in the first and in the
//! second process therefore satisfy p + q <= 1. Then the expected factor of the pair, (0.2 + 1.6 p)(0.2 + 1.6 q), is at
//! most 1. The chances of a far win in the two processes add up to at most 2/8, so the same is true for the far bet.
//!
//! Thus the wealth is a supermartingale *from pair to pair*, and a claim is proven only after whole pairs. A proof also
//! requires that the interval that is reported with it excludes equal times, which needs at least six wins.
//!
//! If the orders of all processes were independent, the bound would have little margin. A load-order effect of 2 %
//! would then make each process of identical kernels a win with a chance of 0.42, and 0.15 % of such kernels would be
//! called faster. In pairs, the effect makes one process a win and the other a loss, and the chance that such kernels
//! are called faster is 1e-12.

use super::interval::{is_outside, product};
use serde::{Deserialize, Serialize};

/// Factor of the coin's wealth after a win.
pub const ON_WIN: f64 = 1.8;
/// Factor of the coin's wealth after a loss. The mean of this factor and [`ON_WIN`] is 1.
pub const ON_LOSS: f64 = 0.2;
/// A process that finds the challenger faster by more than this fraction (0.1 is 10 %) is a far win.
pub const FAR: f64 = 0.1;
/// The far bet assumes that, if the claim is wrong, at most one in this number of processes is a far win.
pub const FAR_ONE_IN: f64 = 8.0;
/// Factor of the far bet's wealth after a far win.
pub const ON_FAR_WIN: f64 = 7.6;
/// Factor of the far bet's wealth after any other process. The expected factor is 1 if exactly one process in
/// [`FAR_ONE_IN`] is a far win.
pub const ON_NO_FAR_WIN: f64 = (FAR_ONE_IN - ON_FAR_WIN) / (FAR_ONE_IN - 1.0);
/// The part of the stake that is bet on far wins. With this part, eight wins that are not far wins still prove a single
/// claim.
pub const FAR_STAKE: f64 = 0.08;
/// The wealth that proves a single claim.
pub const PROVEN: f64 = 100.0;
/// The wealth at which the test of a claim is given up.
pub const RUINED: f64 = 0.002;

/// The result of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The challenger is not faster by more than delta.
    NoWin,
    /// The challenger is faster by more than delta.
    Win,
    /// The challenger is faster by more than [`FAR`].
    FarWin,
}

/// The state of the test after the processes so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The test is not decided, and needs another process.
    Open,
    /// The claim is proven: the challenger is faster by more than delta in the median process.
    Proven,
    /// The claim is not proven, and no further process is run.
    Unproven,
}

/// The wealth of one claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wealth {
    /// Number of claims in the same run. The required wealth is multiplied by it.
    pub claims: u32,
    /// The largest number of processes.
    pub most: u32,
    /// Number of processes that were wins.
    pub wins: u32,
    /// Number of wins that were far wins.
    pub far_wins: u32,
    /// Number of processes that were not wins.
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
            far_wins: 0,
            losses: 0,
        }
    }

    /// The smallest number of processes that can prove one of `claims` claims. It is reached if all processes are far
    /// wins.
    pub fn fewest(claims: u32) -> u32 {
        let mut wealth = Wealth::new(claims, 64);
        while wealth.standing() == Standing::Open {
            wealth.bet(Found::FarWin);
        }
        wealth.processes()
    }

    /// Adds the result of one process.
    pub fn bet(&mut self, found: Found) {
        match found {
            Found::NoWin => self.losses += 1,
            Found::Win => self.wins += 1,
            Found::FarWin => {
                self.wins += 1;
                self.far_wins += 1;
            }
        }
    }

    /// Number of processes so far.
    pub fn processes(&self) -> u32 {
        self.wins + self.losses
    }

    /// The current wealth.
    pub fn value(&self) -> f64 {
        let coin = product(ON_WIN, self.wins, ON_LOSS, self.losses);
        let others = self.processes() - self.far_wins;
        let far = product(ON_FAR_WIN, self.far_wins, ON_NO_FAR_WIN, others);
        (1.0 - FAR_STAKE) * coin + FAR_STAKE * far
    }

    /// The wealth after `far_wins` more far wins.
    fn after(mut self, far_wins: u32) -> Wealth {
        self.wins += far_wins;
        self.far_wins += far_wins;
        self
    }

    /// Whether whole pairs of processes have reached the required wealth. A few far wins among losses do not prove a
    /// claim, because the interval that is reported with a proof must also exclude equal times, which needs at least
    /// six wins.
    fn is_proof(&self) -> bool {
        let whole = self.processes().is_multiple_of(2);
        whole && self.value() >= self.bar() && is_outside(self.wins, self.losses)
    }

    /// The wealth that proves the claim.
    pub fn bar(&self) -> f64 {
        PROVEN * f64::from(self.claims)
    }

    /// The state of the test. The claim is unproven at a wealth of [`RUINED`], after the largest number of processes,
    /// and as soon as far wins in all remaining processes could not prove the claim.
    pub fn standing(&self) -> Standing {
        if self.is_proof() {
            return Standing::Proven;
        }
        let left = self.most.saturating_sub(self.processes());
        let whole_pairs = left - (self.processes() + left) % 2;
        let reachable = left > 0 && self.after(whole_pairs).is_proof();
        if self.value() <= RUINED || !reachable {
            return Standing::Unproven;
        }
        Standing::Open
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// The chance of a win (far wins included), and the chance of a far win.
    type Chances = (f64, f64);

    /// The exact chance that the test ends in `Proven`, if the two processes of a pair have these chances.
    fn proven(start: Wealth, first: Chances, second: Chances) -> f64 {
        fn from(wealth: Wealth, pair: [Chances; 2], known: &mut BTreeMap<[u32; 3], f64>) -> f64 {
            match wealth.standing() {
                Standing::Proven => return 1.0,
                Standing::Unproven => return 0.0,
                Standing::Open => {}
            }
            let counts = [wealth.wins, wealth.far_wins, wealth.losses];
            if let Some(&chance) = known.get(&counts) {
                return chance;
            }
            let (win, far) = pair[wealth.processes() as usize % 2];
            let ways = [
                (1.0 - win, Found::NoWin),
                (win - far, Found::Win),
                (far, Found::FarWin),
            ];
            let possible = ways.into_iter().filter(|(chance, _)| *chance > 0.0);
            let chance = possible
                .map(|(chance, found)| {
                    let mut next = wealth;
                    next.bet(found);
                    chance * from(next, pair, known)
                })
                .sum();
            known.insert(counts, chance);
            chance
        }
        from(start, [first, second], &mut BTreeMap::new())
    }

    /// The chances of a win, without far wins.
    fn near(chance: f64) -> Chances {
        (chance, 0.0)
    }

    /// The number of processes until the claim is proven, if all of them have the same result.
    fn needed(claims: u32, found: Found) -> u32 {
        let mut wealth = Wealth::new(claims, 40);
        while wealth.standing() == Standing::Open {
            wealth.bet(found);
        }
        assert_eq!(wealth.standing(), Standing::Proven);
        wealth.processes()
    }

    #[test]
    fn a_fair_coin_is_called_faster_in_at_most_one_percent() {
        let exact = proven(Wealth::new(1, 24), near(0.5), near(0.5));
        println!("exact false accept at win chance 1/2: {exact:.5}");
        assert!(exact <= 0.01 && exact > 0.005, "{exact}");
    }

    #[test]
    fn as_many_far_wins_as_there_may_be_make_no_claim_likelier_than_one_percent() {
        for claims in [1, 2, 5, 20, 100, 136] {
            let worst = (0.5, 1.0 / FAR_ONE_IN);
            let exact = proven(Wealth::new(claims, 24), worst, worst) * f64::from(claims);
            println!("{claims} claims: {exact:.5}");
            assert!(exact <= 0.01, "{claims} claims: {exact}");
        }
    }

    #[test]
    fn a_slow_mode_of_every_tenth_process_is_called_faster_less_than_once_in_a_thousand() {
        // In 9 % of the processes, only the defender is in a slow mode; such a process is a far win. In 82 %, both
        // sides or neither are in a slow mode, and 20 % of these processes are wins by chance.
        let modes = (0.09 + 0.82 * 0.2, 0.09);
        for claims in [10, 136] {
            let exact = proven(Wealth::new(claims, 24), modes, modes);
            println!("{claims} claims: {exact:.2e}");
            assert!(exact < 1e-3, "{exact}");
        }
    }

    #[test]
    fn a_fair_coin_in_a_run_of_many_claims_is_called_faster_in_at_most_one_percent_of_runs() {
        for claims in [2, 5, 20, 100] {
            let exact = proven(Wealth::new(claims, 24), near(0.5), near(0.5)) * f64::from(claims);
            assert!(exact <= 0.01, "{claims} claims: {exact}");
        }
    }

    #[test]
    fn a_real_gain_is_proven() {
        let at = |chance| proven(Wealth::new(1, 24), near(chance), near(chance));
        println!(
            "exact accept at win chance 0.9: {:.4}, 0.95: {:.4}",
            at(0.9),
            at(0.95)
        );
        assert!(at(0.9) >= 0.93 && at(0.95) >= 0.99 && at(0.99) >= 0.9999);
    }

    #[test]
    fn an_effect_of_the_load_order_alone_proves_nothing() {
        let exact = proven(Wealth::new(1, 24), near(0.84), near(0.001));
        assert!(exact < 1e-9, "{exact}");
        let far = proven(Wealth::new(1, 24), (0.84, 0.2), near(0.001));
        assert!(far < 1e-6, "{far}");
    }

    #[test]
    fn four_losses_in_a_row_end_it() {
        let mut wealth = Wealth::new(1, 24);
        for _ in 0..3 {
            wealth.bet(Found::NoWin);
            assert_eq!(wealth.standing(), Standing::Open);
        }
        wealth.bet(Found::NoWin);
        assert_eq!(wealth.standing(), Standing::Unproven);
    }

    #[test]
    fn eight_wins_in_a_row_prove_one_claim_and_eighteen_one_of_136() {
        assert_eq!(needed(1, Found::Win), 8);
        assert_eq!(needed(136, Found::Win), 18);
    }

    #[test]
    fn a_loss_takes_twelve_processes_to_outweigh_however_far_the_others_won() {
        let mut wealth = Wealth::new(10, 24);
        wealth.bet(Found::NoWin);
        while wealth.standing() == Standing::Open {
            wealth.bet(Found::FarWin);
        }
        assert_eq!(wealth.standing(), Standing::Proven);
        assert_eq!(wealth.processes(), 12);
    }

    #[test]
    fn six_far_wins_in_a_row_prove_a_claim_also_among_136() {
        assert_eq!(needed(1, Found::FarWin), 6);
        assert_eq!(needed(136, Found::FarWin), 6);
    }

    #[test]
    fn giving_up_early_never_gives_up_what_could_still_be_proven() {
        for claims in [1, 3, 50] {
            for wins in 0..=24u32 {
                for losses in 0..=(24 - wins) {
                    for far_wins in [0, wins / 2, wins] {
                        let wealth = Wealth {
                            claims,
                            most: 24,
                            wins,
                            far_wins,
                            losses,
                        };
                        let could =
                            (0..=(24 - wins - losses)).any(|more| wealth.after(more).is_proof());
                        let ruined = wealth.value() <= RUINED;
                        assert_eq!(wealth.standing() == Standing::Unproven, ruined || !could);
                    }
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
            // The chances of a far win in the two processes add up to at most 2/8.
            let (p, q) = (p * 2.0 / FAR_ONE_IN, q * 2.0 / FAR_ONE_IN);
            let mean = |chance: f64| ON_FAR_WIN * chance + ON_NO_FAR_WIN * (1.0 - chance);
            prop_assert!(mean(p) * mean(q) <= 1.0 + 1e-12);
        }

        #[test]
        fn villes_bound_holds_exactly_for_any_complementary_pair(p in 0.0..=1.0f64, far in 0.0..=0.25f64, claims in 1u32..10) {
            let (first, second) = ((p, far.min(p)), (1.0 - p, (0.25 - far).min(1.0 - p)));
            let exact = proven(Wealth::new(claims, 16), first, second);
            prop_assert!(exact <= 0.01 / f64::from(claims) + 1e-12, "{exact}");
        }
    }
}
