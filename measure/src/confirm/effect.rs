//! Computes the effect that a process shows from its samples.

use super::evidence::ProcessRecord;
use super::settings::Claim;
use crate::arm::ArmId;
use crate::order::BLOCK;
use crate::sample::Sample;
use crate::summary::median;

/// A block is discarded if the clock rates of its two sides differ by more than this fraction.
const CLOCK_SHARE: f64 = 0.01;

/// The result of the blocks of one process: the median log ratio of times and of clock cycles, and the numbers of all
/// blocks and of discarded blocks. The ratios are `None` if no block could be used. The ratio of cycles is also `None`
/// if the device does not report its clock rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Effect {
    pub(super) log_ratio: Option<f64>,
    pub(super) log_ratio_cycles: Option<f64>,
    pub(super) blocks: usize,
    pub(super) discarded: usize,
}

/// The effect that a process shows, which is the median of its steady blocks (those that are not discarded).
pub(super) fn effect_of(claim: Claim, record: &ProcessRecord) -> Effect {
    let mut times = Vec::new();
    let mut cycles = Vec::new();
    let mut effect = Effect::default();
    let plans = record.asked.plan.chunks_exact(BLOCK);
    for (plan, samples) in plans.zip(record.samples.chunks_exact(BLOCK)) {
        effect.blocks += 1;
        if is_steady(claim, plan, samples) {
            times.push(block_effect(claim, plan, samples, Sample::log_ns));
            if samples.iter().all(|sample| sample.clock_khz.is_some()) {
                cycles.push(block_effect(claim, plan, samples, log_cycles));
            }
        } else {
            effect.discarded += 1;
        }
    }
    effect.log_ratio = median(&times);
    effect.log_ratio_cycles = median(&cycles);
    effect
}

/// The mean of `measure` over the challenger's samples minus its mean over the defender's samples. `measure` returns
/// the logarithm of the measured quantity.
fn block_effect(
    claim: Claim,
    plan: &[ArmId],
    samples: &[Sample],
    measure: fn(&Sample) -> f64,
) -> f64 {
    mean_of(claim.challenger, plan, samples, measure)
        - mean_of(claim.defender, plan, samples, measure)
}

fn mean_of(
    arm: ArmId,
    plan: &[ArmId],
    samples: &[Sample],
    measure: impl Fn(&Sample) -> f64,
) -> f64 {
    let own = plan.iter().zip(samples).filter(|(a, _)| **a == arm);
    own.map(|(_, sample)| measure(sample)).sum::<f64>() / (BLOCK / 2) as f64
}

fn log_cycles(sample: &Sample) -> f64 {
    sample.log_ns() + f64::from(sample.clock_khz.unwrap_or(1).max(1)).ln()
}

fn is_steady(claim: Claim, plan: &[ArmId], samples: &[Sample]) -> bool {
    if samples.iter().any(|sample| sample.throttled) {
        return false;
    }
    if samples.iter().any(|sample| sample.clock_khz.is_none()) {
        return true;
    }
    let clock = |sample: &Sample| f64::from(sample.clock_khz.unwrap_or(0));
    let defender = mean_of(claim.defender, plan, samples, clock);
    let challenger = mean_of(claim.challenger, plan, samples, clock);
    (defender - challenger).abs() <= CLOCK_SHARE * defender.max(challenger)
}
