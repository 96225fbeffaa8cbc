//! Random orders of loading, of allocation, of a round, and of the blocks of a process.

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

/// An opening with a random load order and a separate random allocation order.
pub fn random_opening(arms: &[ArmId], rng: &mut impl Rng) -> Opening {
    Opening {
        load: shuffled(arms, rng),
        allocate: shuffled(arms, rng),
    }
}

/// An opening for `arms` that reverses the orders of an earlier opening, so that the effect of the order on an arm
/// changes its sign. Arms that were not in the earlier opening come last.
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

/// An opening with two sides. The challenger is loaded last if `challenger_last` is set, and first otherwise. The
/// buffers are allocated in the same order if `allocate_alike` is set, and in the reverse order otherwise.
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

/// Number of samples in a block: two of each side.
pub const BLOCK: usize = 4;

/// The plan of `blocks` blocks, each of which is ABBA or BAAB with equal chance. Within a block, a linear drift of the
/// clock affects both sides equally.
pub fn block_plan(a: ArmId, b: ArmId, blocks: usize, rng: &mut impl Rng) -> Vec<ArmId> {
    let mut plan = Vec::with_capacity(blocks * BLOCK);
    for _ in 0..blocks {
        let (outer, inner) = if rng.random::<bool>() { (a, b) } else { (b, a) };
        plan.extend([outer, inner, inner, outer]);
    }
    plan
}
