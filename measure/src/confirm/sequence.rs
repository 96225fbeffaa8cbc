//! The test of a claim, which runs one process at a time.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::effect::{Effect, effect_of};
use super::evidence::{ClaimResult, Decision, Doubt, ProcessPlan, ProcessRecord, TestStatistics};
use super::ledger::ClearedEffects;
use super::settings::{Claim, ConfirmSettings, RaceEstimate};
use crate::arm::ArmId;
use crate::interval::median_interval;
use crate::order::{block_plan, two_sided_opening};
use crate::summary::{Quartiles, median};
use crate::wealth::{FAR, Found, Standing, Wealth};

/// If more than one in this number of blocks is discarded, the test is inconclusive.
const DISCARDED_ONE_IN: usize = 5;

/// Changes the seed for the random choice of the allocation order, so that this choice is independent of the random
/// choices of the processes.
const ALLOCATION_DRAW: u64 = 0xa110_ca7e;

/// The test of a claim, which runs one process at a time. [`confirm`](super::confirm) runs it on a [`Lab`](crate::Lab).
/// A caller that resumes or replays a test supplies stored records instead.
#[derive(Clone, Debug)]
pub struct ClaimTest {
    claim: Claim,
    expected: RaceEstimate,
    settings: ConfirmSettings,
    records: Vec<ProcessRecord>,
    effects: Vec<Effect>,
    ledger: ClearedEffects,
    wealth: Wealth,
    doubt: Option<Doubt>,
}

impl ClaimTest {
    /// The test of a claim that has not run a process yet.
    pub fn new(claim: Claim, expected: RaceEstimate, settings: ConfirmSettings) -> Self {
        Self {
            claim,
            expected,
            settings,
            records: Vec::new(),
            effects: Vec::new(),
            ledger: ClearedEffects::default(),
            wealth: Wealth::new(settings.claims, settings.most_processes),
            doubt: None,
        }
    }

    /// The next process to run; `None` if the claim is decided. The same records give the same plan.
    pub fn next_process(&self) -> Option<ProcessPlan> {
        self.decision().is_none().then(|| self.plan())
    }

    /// The plan of the next process, even if this claim does not need one any more.
    pub(crate) fn plan(&self) -> ProcessPlan {
        let index = self.wealth.processes();
        let mut rng = ChaCha8Rng::seed_from_u64(self.settings.seed);
        rng.set_stream(u64::from(index) / 2);
        let Claim {
            defender,
            challenger,
        } = self.claim;
        let challenger_last = rng.random::<bool>() ^ (index % 2 == 1);
        let opening =
            two_sided_opening(defender, challenger, challenger_last, self.allocate_alike());
        let (first, other) = if challenger_last {
            (defender, challenger)
        } else {
            (challenger, defender)
        };
        let plan = block_plan(first, other, self.blocks(), &mut rng);
        ProcessPlan { opening, plan }
    }

    /// Continues an unfinished test of the claim with the same seed. `log_ratios` are the effects of its processes, in
    /// order. They are used as if the processes had been run now.
    #[must_use]
    pub fn resumed(mut self, log_ratios: &[f64]) -> Self {
        for &log_ratio in log_ratios {
            let challenger_last = self.is_challenger_last(&self.plan());
            self.enter(log_ratio, None, challenger_last);
            self.effects.push(Effect {
                log_ratio: Some(log_ratio),
                ..Effect::default()
            });
        }
        self
    }

    /// Adds the record of a process.
    pub fn push(&mut self, record: ProcessRecord) {
        let effect = effect_of(self.claim, &record);
        if let Some(log_ratio) = effect.log_ratio {
            let challenger_last = self.is_challenger_last(&record.asked);
            self.enter(log_ratio, effect.log_ratio_cycles, challenger_last);
        }
        self.effects.push(effect);
        self.records.push(record);
        let (blocks, discarded) = self.block_counts();
        let judged = self.records.len() >= 4 || self.wealth.standing() != Standing::Open;
        if judged && discarded * DISCARDED_ONE_IN > blocks {
            self.doubt = Some(Doubt::UnsteadyClocks);
        }
    }

    /// Adds the effect of a process to the wealth.
    fn enter(&mut self, log_ratio: f64, log_ratio_cycles: Option<f64>, challenger_last: bool) {
        let cleared = self.ledger.enter(log_ratio, challenger_last);
        let in_cycles = log_ratio_cycles.map(|cycles| cycles - log_ratio + cleared);
        let by_more_than = |share: f64| {
            let bar = -share.ln_1p();
            cleared < bar && in_cycles.is_none_or(|cycles| cycles < bar)
        };
        // A slow mode in one process looks like an effect of the load order. Subtracting this effect from later
        // processes would make one process of each pair look much faster than it is. A process is therefore a far win
        // only if it is one without the correction too.
        let far = FAR.max(self.settings.delta);
        self.wealth.bet(match () {
            () if !by_more_than(self.settings.delta) => Found::NoWin,
            () if by_more_than(far) && log_ratio < -far.ln_1p() => Found::FarWin,
            () => Found::Win,
        });
    }

    fn is_challenger_last(&self, plan: &ProcessPlan) -> bool {
        plan.opening.load.last() == Some(&self.claim.challenger)
    }

    /// Ends the test without a decision.
    pub fn give_up(&mut self, doubt: Doubt) {
        self.doubt = Some(doubt);
    }

    /// The decision; `None` if the claim is not decided yet.
    pub fn decision(&self) -> Option<Decision> {
        if let Some(doubt) = &self.doubt {
            return Some(Decision::Inconclusive(doubt.clone()));
        }
        match self.wealth.standing() {
            Standing::Proven => Some(Decision::Faster),
            Standing::Unproven => Some(Decision::NotProven),
            Standing::Open => None,
        }
    }

    /// The result with the evidence so far. If the claim is not decided yet, it is inconclusive.
    pub fn verdict(&self) -> ClaimResult {
        let cleared = self.ledger.cleared();
        let (blocks, discarded_blocks) = self.block_counts();
        ClaimResult {
            claim: self.claim,
            decision: self
                .decision()
                .unwrap_or(Decision::Inconclusive(Doubt::BudgetSpent)),
            evidence: TestStatistics {
                processes: self.wealth.processes(),
                wins: self.wealth.wins,
                wealth: self.wealth.value(),
                proof: self.wealth.bar(),
                median_ratio: median(&cleared).map(f64::exp),
                interval: median_interval(&cleared),
                log_ratios: self.ledger.raw(),
                order_effects: self.ledger.order_effects(),
                defender: self.summary(self.claim.defender),
                challenger: self.summary(self.claim.challenger),
                blocks,
                discarded_blocks,
                settings: self.settings,
            },
        }
    }

    /// The settings of the test.
    pub(crate) fn settings(&self) -> &ConfirmSettings {
        &self.settings
    }

    /// The records of the processes so far.
    pub(crate) fn records(&self) -> &[ProcessRecord] {
        &self.records
    }

    fn block_counts(&self) -> (usize, usize) {
        let blocks = self.effects.iter().map(|effect| effect.blocks).sum();
        (
            blocks,
            self.effects.iter().map(|effect| effect.discarded).sum(),
        )
    }

    pub(crate) fn summary(&self, arm: ArmId) -> Option<Quartiles> {
        let samples = self
            .records
            .iter()
            .flat_map(|r| r.asked.plan.iter().zip(&r.samples));
        Quartiles::of_launches(
            samples
                .filter(|(a, _)| **a == arm)
                .map(|(_, s)| s.launch_ns())
                .collect(),
        )
    }

    /// Whether buffers are allocated in the load order or in its reverse. The choice is random and made once per claim,
    /// so that the order has the same effect in all pairs of the claim.
    fn allocate_alike(&self) -> bool {
        ChaCha8Rng::seed_from_u64(self.settings.seed ^ ALLOCATION_DRAW).random()
    }

    /// Number of blocks of the next process: as many as the effect needs, if the time allows. Both processes of a pair
    /// run the same number of blocks, so that they differ only in their orders.
    fn blocks(&self) -> usize {
        let expected = self.expected.ratio.ln().abs();
        let seen = median(&self.ledger.cleared_pairs()).map_or(expected, f64::abs);
        let needed = blocks_for(seen.min(expected), self.settings.most_blocks);
        let affordable = self.settings.process_ns / self.block_ns();
        usize::try_from(affordable)
            .unwrap_or(usize::MAX)
            .clamp(1, needed)
    }

    pub(crate) fn block_ns(&self) -> u64 {
        let spans = self
            .expected
            .defender_span_ns
            .saturating_add(self.expected.challenger_span_ns);
        spans.saturating_mul(2).max(1)
    }
}

/// Number of blocks that a process needs to distinguish an effect (absolute log ratio) from the noise within the
/// process. The number is largest near delta, and smaller for effects that are so large that every block shows them.
fn blocks_for(effect: f64, most: usize) -> usize {
    let needed = match effect {
        e if e >= 0.5 => 1,
        e if e >= 0.2 => 3,
        e if e >= 0.08 => 6,
        _ => most,
    };
    needed.clamp(1, most.max(1))
}
