//! The races of a search in batches, and the play-off that selects the finalist.
//!
//! Each batch of new arms races against the best arm so far and against the anchor. The anchor is the baseline or, if
//! the baseline is very slow, a faster arm in its place. The cost of an arm is its time divided by the baseline's time,
//! measured through the anchor. Costs of different batches are therefore comparable even if clocks changed between the
//! batches.
//!
//! The best arms of all batches race once more in the play-off, on new data. Without the play-off, the finalist would
//! be the arm that was luckiest in its batch.

use super::arm::ArmId;
use super::confirm::RaceEstimate;
use super::fault::Fault;
use super::lab::Lab;
use super::race::{Fate, RaceCard, RaceEntry, RaceResult, RaceSettings, race};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// The largest number of arms in the play-off, apart from the anchor.
const MAX_ELITES: usize = 8;

/// An arm is not in the play-off if its time divided by the best arm's time is above this.
const ELITE_RATIO: f64 = 1.05;

/// Maximum number of rounds of a batch, and of the play-off. A single race has up to 24. Fewer are enough here, because
/// a batch only selects the arms of the play-off, and because the rounds of a batch and of the play-off together are
/// spread over six processes, whereas the 24 rounds of a single race share three.
const MAX_ROUNDS: u32 = 16;

/// Rounds in one process of the play-off. There are few, because the arms in the play-off are so close that a new
/// placement in another process matters more than another round in the same process.
const PLAY_OFF_ROUNDS: u32 = 4;

/// The arm that is to be confirmed, and its result in the races.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finalist {
    /// The arm.
    pub arm: ArmId,
    /// The expected times of the arm and of the baseline. They are used to plan the confirm step, and are never
    /// printed.
    pub expected: RaceEstimate,
}

/// An arm that was raced and did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Raced {
    /// The arm.
    pub arm: ArmId,
    /// The arm's time divided by the baseline's time.
    pub cost: f64,
    /// Median span of the arm's samples, in nanoseconds.
    pub span_ns: u64,
}

/// The races of one search.
#[derive(Clone, Debug)]
pub struct Tournament {
    settings: RaceSettings,
    baseline: ArmId,
    baseline_span_ns: u64,
    anchor: ArmId,
    anchor_cost: f64,
    incumbent: ArmId,
    raced: Vec<Raced>,
    faulted: Vec<ArmId>,
    /// Faults that the caller has not received yet.
    news: Vec<Fault>,
}

impl Tournament {
    /// A tournament in which no arm has raced yet.
    pub fn new(baseline: ArmId, settings: RaceSettings) -> Self {
        Self {
            settings,
            baseline,
            baseline_span_ns: 0,
            anchor: baseline,
            anchor_cost: 1.0,
            incumbent: baseline,
            raced: Vec::new(),
            faulted: Vec::new(),
            news: Vec::new(),
        }
    }

    /// The best arm so far; the baseline before the first batch.
    pub fn incumbent(&self) -> ArmId {
        self.incumbent
    }

    /// The arm's time divided by the baseline's time; `None` if the arm was not raced or failed.
    pub fn cost(&self, arm: ArmId) -> Option<f64> {
        self.raced
            .iter()
            .find(|raced| raced.arm == arm)
            .map(|raced| raced.cost)
    }

    /// All arms that were raced so far and did not fail.
    pub fn raced(&self) -> &[Raced] {
        &self.raced
    }

    /// Removes an arm permanently, because it failed or gave wrong outputs outside the races. The next play-off selects
    /// another finalist.
    pub fn disqualify(&mut self, arm: ArmId) {
        self.faulted.push(arm);
        self.raced.retain(|raced| raced.arm != arm);
        if self.anchor == arm {
            self.anchor = self.baseline;
            self.anchor_cost = 1.0;
        }
        if self.incumbent == arm {
            let best = self.raced.iter().min_by(|a, b| a.cost.total_cmp(&b.cost));
            self.incumbent = best.map_or(self.baseline, |raced| raced.arm);
        }
    }

    /// Races a batch of new arms for at most `budget_ns`.
    ///
    /// # Errors
    /// The errors of [`race`].
    pub fn submit(
        &mut self,
        lab: &mut dyn Lab,
        batch: &[ArmId],
        budget_ns: u64,
        rng: &mut impl Rng,
        on_end: &mut dyn FnMut(&RaceEntry),
    ) -> Result<RaceResult, Fault> {
        let most_rounds = MAX_ROUNDS.min(self.settings.most_rounds);
        self.race(
            lab,
            batch,
            RaceSettings {
                budget_ns,
                most_rounds,
                ..self.settings
            },
            rng,
            on_end,
        )
    }

    /// Races the best arms of all batches on new data for at most `budget_ns`, and returns the finalist. `None` if no
    /// arm was faster than the baseline.
    ///
    /// # Errors
    /// The errors of [`race`].
    pub fn play_off(
        &mut self,
        lab: &mut dyn Lab,
        budget_ns: u64,
        rng: &mut impl Rng,
    ) -> Result<Option<Finalist>, Fault> {
        let elites = self.elites();
        if elites != [self.incumbent] && !elites.is_empty() {
            let rounds_per_process = PLAY_OFF_ROUNDS.min(self.settings.rounds_per_process);
            let most_rounds = MAX_ROUNDS.min(self.settings.most_rounds);
            let settings = RaceSettings {
                budget_ns,
                most_rounds,
                rounds_per_process,
                ..self.settings
            };
            self.race(lab, &elites, settings, rng, &mut |_| {})?;
        }
        Ok(self.finalist())
    }

    /// Removes and returns the faults that have occurred since the last call. An arm can have a fault although its
    /// earlier races had none.
    pub fn take_faults(&mut self) -> Vec<Fault> {
        std::mem::take(&mut self.news)
    }

    fn race(
        &mut self,
        lab: &mut dyn Lab,
        contenders: &[ArmId],
        settings: RaceSettings,
        rng: &mut impl Rng,
        on_end: &mut dyn FnMut(&RaceEntry),
    ) -> Result<RaceResult, Fault> {
        loop {
            let (anchor, incumbent) = (self.anchor, self.incumbent);
            let card = RaceCard {
                anchor,
                incumbent,
                contenders,
            };
            match race(lab, &card, &settings, rng, on_end) {
                Ok(result) => {
                    self.take_in(&result);
                    return Ok(result);
                }
                Err(fault) if fault.arm == Some(anchor) && anchor != self.baseline => {
                    self.disqualify(anchor);
                    self.news.push(fault);
                }
                Err(fault) => return Err(fault),
            }
        }
    }

    /// The arms of the play-off: those with the lowest cost that are near the best one.
    fn elites(&self) -> Vec<ArmId> {
        let mut best = self.raced.clone();
        best.sort_by(|a, b| a.cost.total_cmp(&b.cost).then(a.arm.cmp(&b.arm)));
        let bar = best.first().map_or(0.0, |raced| raced.cost * ELITE_RATIO);
        let near = best
            .iter()
            .take_while(|raced| raced.cost <= bar)
            .map(|raced| raced.arm);
        near.filter(|&arm| arm != self.baseline)
            .take(MAX_ELITES)
            .collect()
    }

    fn finalist(&self) -> Option<Finalist> {
        let raced = self
            .raced
            .iter()
            .find(|raced| raced.arm == self.incumbent)?;
        let expected = RaceEstimate {
            ratio: raced.cost,
            defender_span_ns: self.baseline_span_ns,
            challenger_span_ns: raced.span_ns,
        };
        (raced.arm != self.baseline && raced.cost < 1.0).then_some(Finalist {
            arm: raced.arm,
            expected,
        })
    }

    fn take_in(&mut self, result: &RaceResult) {
        for entry in &result.entries {
            self.take_in_entry(entry);
        }
        self.incumbent = result.leader;
        if let Some(cost) = self.cost(result.leader)
            && cost * self.settings.slow_anchor < self.anchor_cost
        {
            self.anchor = result.leader;
            self.anchor_cost = cost;
        }
    }

    fn take_in_entry(&mut self, entry: &RaceEntry) {
        if let Fate::Faulted(fault) = &entry.fate {
            self.disqualify(entry.arm);
            self.news.push(fault.clone());
        }
        let (Some(ratio), Some(span_ns)) = (entry.ratio_to_anchor, entry.span_ns) else {
            return;
        };
        self.raced.retain(|raced| raced.arm != entry.arm);
        if entry.arm == self.baseline {
            self.baseline_span_ns = span_ns;
        }
        if !self.faulted.contains(&entry.arm) {
            let cost = ratio * self.anchor_cost;
            self.raced.push(Raced {
                arm: entry.arm,
                cost,
                span_ns,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::lab::Clock;
    use crate::noise::NoiseModel;
    use crate::simulate::SimulatedLab;
    use crate::span::Resolution;
    use kiln_cache::Outcome;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn tournament() -> Tournament {
        Tournament::new(ArmId(0), RaceSettings::new(Resolution { tick_ns: 500 }))
    }

    fn finalist(lab: &mut SimulatedLab, batches: &[&[usize]]) -> (Tournament, Option<Finalist>) {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut tournament = tournament();
        for batch in batches {
            let batch: Vec<ArmId> = batch.iter().copied().map(ArmId).collect();
            tournament
                .submit(lab, &batch, u64::MAX, &mut rng, &mut |_| {})
                .unwrap();
        }
        let finalist = tournament.play_off(lab, u64::MAX, &mut rng).unwrap();
        (tournament, finalist)
    }

    #[test]
    fn the_best_of_all_batches_is_the_finalist() {
        let mut lab = SimulatedLab::new(
            vec![1_000_000, 990_000, 800_000, 950_000, 900_000],
            NoiseModel::nominal(),
            3,
        );
        let (tournament, finalist) = finalist(&mut lab, &[&[1, 2], &[3, 4]]);
        let finalist = finalist.unwrap();
        assert_eq!((finalist.arm, tournament.incumbent()), (ArmId(2), ArmId(2)));
        assert!((finalist.expected.ratio - 0.8).abs() < 0.03, "{finalist:?}");
    }

    #[test]
    fn a_baseline_that_nothing_beats_has_no_finalist() {
        let mut lab = SimulatedLab::new(
            vec![1_000_000, 1_200_000, 1_300_000],
            NoiseModel::nominal(),
            3,
        );
        assert_eq!(finalist(&mut lab, &[&[1, 2]]).1, None);
    }

    #[test]
    fn an_arm_that_is_as_fast_as_the_baseline_is_not_a_finalist() {
        let mut lab = SimulatedLab::new(vec![1_000_000, 500_000], NoiseModel::QUIET, 3);
        let (mut tournament, found) = finalist(&mut lab, &[&[1]]);
        assert_eq!(found.map(|found| found.arm), Some(ArmId(1)));
        // The arm led an earlier race, and lost its lead in a later one.
        for raced in &mut tournament.raced {
            raced.cost = 1.0;
        }
        assert_eq!(tournament.finalist(), None);
    }

    #[test]
    fn a_tournament_without_batches_has_no_finalist() {
        let mut lab = SimulatedLab::new(vec![1_000_000], NoiseModel::nominal(), 3);
        assert_eq!(finalist(&mut lab, &[]).1, None);
        assert_eq!(lab.launches(), 0);
    }

    #[test]
    fn costs_of_different_batches_are_told_in_the_same_baseline() {
        let mut lab = SimulatedLab::new(
            vec![1_000_000, 500_000, 700_000, 600_000],
            NoiseModel::QUIET,
            3,
        );
        let (tournament, _) = finalist(&mut lab, &[&[1], &[2], &[3]]);
        let cost = |arm| tournament.cost(ArmId(arm)).unwrap();
        assert!(
            (cost(1) - 0.5).abs() < 1e-6
                && (cost(2) - 0.7).abs() < 1e-6
                && (cost(3) - 0.6).abs() < 1e-6
        );
    }

    #[test]
    fn a_naive_baseline_of_a_second_is_not_timed_in_every_batch() {
        let naive_ns = 1_000_000_000;
        let mut lab = SimulatedLab::new(
            vec![naive_ns, 9_000_000, 8_000_000, 7_000_000, 6_000_000],
            NoiseModel::nominal(),
            3,
        );
        let (tournament, finalist) = finalist(&mut lab, &[&[1], &[2], &[3], &[4]]);
        assert_eq!(finalist.map(|finalist| finalist.arm), Some(ArmId(4)));
        assert!((tournament.cost(ArmId(4)).unwrap() / 0.006 - 1.0).abs() < 0.05);
        // The baseline has three warm-up launches and three samples, in one batch only.
        let rest_ns = lab.now_ns() - lab.processes() * 300_000_000;
        assert!(rest_ns < 9 * naive_ns, "{rest_ns}");
    }

    #[test]
    fn a_faulty_arm_is_never_the_finalist() {
        let cause = Outcome::KernelFault {
            text: "illegal address".into(),
        };
        let mut lab = SimulatedLab::new(
            vec![1_000_000, 100_000, 900_000, 950_000],
            NoiseModel::nominal(),
            3,
        )
        .with_fault(ArmId(1), 4, cause.clone());
        let (mut tournament, finalist) = finalist(&mut lab, &[&[1, 2], &[3]]);
        assert_eq!(finalist.map(|finalist| finalist.arm), Some(ArmId(2)));
        assert_eq!(tournament.cost(ArmId(1)), None);
        let told = tournament.take_faults();
        assert_eq!(told, [Fault::of(ArmId(1), cause)]);
        assert_eq!(tournament.take_faults(), []);
    }

    #[test]
    fn a_faulty_stand_in_for_a_slow_baseline_is_replaced_by_the_baseline() {
        let cause = Outcome::NotANumber {
            output: "y".into(),
            index: 3,
            inputs: None,
        };
        let times = vec![100_000_000, 1_000_000, 8_000_000, 7_000_000];
        let mut lab =
            SimulatedLab::new(times, NoiseModel::nominal(), 3).with_fault(ArmId(1), 4, cause);
        let (tournament, finalist) = finalist(&mut lab, &[&[1, 2], &[3]]);
        assert_eq!(finalist.map(|finalist| finalist.arm), Some(ArmId(3)));
        assert!((tournament.cost(ArmId(3)).unwrap() / 0.07 - 1.0).abs() < 0.05);
    }

    #[test]
    fn a_disqualified_finalist_is_followed_by_the_next_best() {
        let mut lab = SimulatedLab::new(
            vec![1_000_000, 500_000, 800_000, 700_000],
            NoiseModel::nominal(),
            3,
        );
        let (mut tournament, first) = finalist(&mut lab, &[&[1, 2, 3]]);
        assert_eq!(first.map(|finalist| finalist.arm), Some(ArmId(1)));
        tournament.disqualify(ArmId(1));
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let second = tournament.play_off(&mut lab, u64::MAX, &mut rng).unwrap();
        assert_eq!(second.map(|finalist| finalist.arm), Some(ArmId(3)));
    }
}
