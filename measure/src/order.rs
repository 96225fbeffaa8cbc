//! Random orders: of loading, of a round, of the blocks of a process.

use super::arm::ArmId;
use super::lab::Opening;
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

/// The arms in a random order.
pub fn shuffled(arms: &[ArmId], rng: &mut impl Rng) -> Vec<ArmId> {
    let mut order = arms.to_vec();
    order.shuffle(rng);
    order
}

/// An opening with random load and allocation orders, drawn apart.
pub fn random_opening(arms: &[ArmId], rng: &mut impl Rng) -> Opening {
    Opening {
        load: shuffled(arms, rng),
        allocate: shuffled(arms, rng),
    }
}

/// An opening for `arms` with the orders of an earlier one reversed, so that the effect of the order on an arm changes
/// its sign. Arms that were not in the earlier one come last.
pub fn mirrored(earlier: &Opening, arms: &[ArmId]) -> Opening {
    let reversed = |order: &[ArmId]| {
        let kept = order.iter().rev().filter(|arm| arms.contains(arm));
        let new = arms.iter().filter(|arm| !order.contains(arm));
        kept.chain(new).copied().collect()
    };
    Opening {
        load: reversed(&earlier.load),
        allocate: reversed(&earlier.allocate),
    }
}

/// An opening with two sides: the challenger is loaded last or first, and allocated like that too or
/// the other way round.
pub fn two_sided_opening(
    defender: ArmId,
    challenger: ArmId,
    challenger_last: bool,
    allocate_alike: bool,
) -> Opening {
    let order = |last: bool| {
        if last {
            vec![defender, challenger]
        } else {
            vec![challenger, defender]
        }
    };
    Opening {
        load: order(challenger_last),
        allocate: order(challenger_last == allocate_alike),
    }
}

/// Samples in a block: each side twice.
pub const BLOCK: usize = 4;

/// The plan of `blocks` blocks, each ABBA or BAAB with even chance. Within a block a linear drift
/// of the clock hits both sides alike.
pub fn block_plan(a: ArmId, b: ArmId, blocks: usize, rng: &mut impl Rng) -> Vec<ArmId> {
    let mut plan = Vec::with_capacity(blocks * BLOCK);
    for _ in 0..blocks {
        let (outer, inner) = if rng.random::<bool>() { (a, b) } else { (b, a) };
        plan.extend([outer, inner, inner, outer]);
    }
    plan
}
