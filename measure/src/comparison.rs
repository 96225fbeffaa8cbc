//! Comparison: tests whether the present version of a kernel is slower than, faster than, or as fast as an earlier
//! version.
//!
//! A comparison tests two claims on the same processes: "the earlier kernel is faster" and "the present kernel is
//! faster". Each is a [`ClaimTest`] with all its guarantees: fresh processes in pairs (the second of a pair loads and
//! allocates the two kernels in the reverse order), ABBA or BAAB blocks, and a bet on every process. If a run has `m`
//! comparisons, each claim needs the wealth 100·m. The chance that a whole run contains a false *slower* is therefore
//! at most 1 %, and so is the chance of a false *faster*, whenever the comparisons stop.
//!
//! If neither claim is proven, the ruling is *same* if the interval of the ratio excludes a change of
//! [`ComparisonSettings::margin`] or more. Otherwise it is *open*.

use serde::{Deserialize, Serialize};

use super::arm::ArmId;
use super::confirm::{
    Claim, ClaimTest, ConfirmSettings, Decision, Doubt, ProcessPlan, ProcessRecord, RaceEstimate,
    Sequential, TestStatistics,
};
use super::interval::Interval;
use super::span::Resolution;

/// The largest number of processes of one comparison. It is larger than for a single claim, because a run with many
/// comparisons needs more wealth for each.
pub const MAX_PROCESSES: u32 = 40;

/// The settings of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparisonSettings {
    /// How each of the two claims is tested. Its field `claims` is the number of comparisons in the run.
    pub confirm: ConfirmSettings,
    /// The two sides are the same if a change of at least this fraction (0.05 is 5 %) is excluded.
    pub margin: f64,
}

impl ComparisonSettings {
    /// The settings of the protocol for one of `claims` comparisons in a run.
    pub fn new(resolution: Resolution, seed: u64, claims: u32, margin: f64) -> ComparisonSettings {
        let mut confirm = ConfirmSettings::new(resolution, seed);
        confirm.claims = claims.max(1);
        confirm.most_processes = MAX_PROCESSES;
        ComparisonSettings { confirm, margin }
    }
}

/// The ruling of a comparison. Delta is the smallest relevant difference, [`ConfirmSettings::delta`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Ruling {
    /// It is proven that the present side is slower by more than delta in the median process.
    Slower,
    /// It is proven that the present side is faster by more than delta in the median process.
    Faster,
    /// Neither is proven, but a change of the margin or more is excluded.
    Same,
    /// None of the above. The field is the reason why the comparison ended early; `None` if all processes were used.
    Open(Option<Doubt>),
}

/// A comparison of an earlier kernel with the present one, which runs one process at a time.
#[derive(Clone, Debug)]
pub struct SideComparison {
    slower: ClaimTest,
    faster: ClaimTest,
    settings: ComparisonSettings,
    ruling: Option<Ruling>,
}

impl SideComparison {
    /// A comparison that has not run a process yet. `expected` has the present side as challenger and the earlier side
    /// as defender.
    pub fn new(
        earlier: ArmId,
        present: ArmId,
        expected: RaceEstimate,
        settings: ComparisonSettings,
    ) -> SideComparison {
        let claim = |defender, challenger| Claim {
            defender,
            challenger,
        };
        let turned = RaceEstimate {
            ratio: 1.0 / expected.ratio.max(f64::MIN_POSITIVE),
            defender_span_ns: expected.challenger_span_ns,
            challenger_span_ns: expected.defender_span_ns,
        };
        SideComparison {
            slower: ClaimTest::new(claim(present, earlier), turned, settings.confirm),
            faster: ClaimTest::new(claim(earlier, present), expected, settings.confirm),
            settings,
            ruling: None,
        }
    }

    /// The ruling; `None` while the comparison is not decided.
    pub fn ruling(&self) -> Option<&Ruling> {
        self.ruling.as_ref()
    }

    /// The evidence so far. Its ratio is the present side's time divided by the earlier side's time; above 1, the
    /// present side is slower.
    pub fn evidence(&self) -> TestStatistics {
        self.faster.verdict().evidence
    }

    fn rule(&self) -> Option<Ruling> {
        match (self.slower.decision(), self.faster.decision()) {
            (Some(Decision::Inconclusive(doubt)), _) | (_, Some(Decision::Inconclusive(doubt))) => {
                Some(Ruling::Open(Some(doubt)))
            }
            (Some(Decision::Faster), _) => Some(Ruling::Slower),
            (_, Some(Decision::Faster)) => Some(Ruling::Faster),
            // `Same` is ruled only if neither claim can still be proven. It is also ruled only after whole pairs,
            // because the effect of the load order is not balanced in the middle of a pair.
            (Some(_), Some(_))
                if self.processes().is_multiple_of(2) && self.is_within_the_margin() =>
            {
                Some(Ruling::Same)
            }
            _ if self.processes() >= self.settings.confirm.most_processes => {
                Some(Ruling::Open(None))
            }
            _ => None,
        }
    }

    fn processes(&self) -> u32 {
        u32::try_from(self.faster.records().len()).unwrap_or(u32::MAX)
    }

    fn is_within_the_margin(&self) -> bool {
        let far = 1.0 + self.settings.margin;
        let within = |interval: Interval| 1.0 / far < interval.low && interval.high < far;
        self.evidence().interval.is_some_and(within)
    }
}

impl Sequential for SideComparison {
    fn settings(&self) -> &ConfirmSettings {
        &self.settings.confirm
    }

    fn block_ns(&self) -> u64 {
        self.faster.block_ns()
    }

    fn next_process(&self) -> Option<ProcessPlan> {
        // A claim that has lost wealth can win it back, so processes are run for both claims until the comparison is
        // decided.
        self.ruling.is_none().then(|| self.faster.plan())
    }

    fn push(&mut self, record: ProcessRecord) {
        self.slower.push(record.clone());
        self.faster.push(record);
        self.ruling = self.rule();
    }

    fn give_up(&mut self, doubt: Doubt) {
        self.ruling = Some(Ruling::Open(Some(doubt)));
    }
}

#[cfg(test)]
#[path = "comparison_tests.rs"]
mod tests;
