//! Ranks the configs of a search space by predicted time.

use kiln_spec::KernelSpec;
use kiln_spec::space::SearchSpace;
use kiln_spec::targets::KnownTarget;

use super::{Facts, TimeEstimate, estimate};

/// Returns the index and the prediction of each config of a space, fastest first. Configs without a prediction, such as
/// those that cannot be launched, are left out. In a space with more than 10 million configs, only every n-th config is
/// ranked.
pub fn rank(
    spec: &KernelSpec,
    space: &SearchSpace,
    known: &KnownTarget,
) -> Vec<(usize, TimeEstimate)> {
    const MAX_CONFIGS: usize = 10_000_000;
    let step = space.len().div_ceil(MAX_CONFIGS);
    let guess = |index: usize| {
        let facts = Facts::of(spec, &space.config(index), space.problem())?;
        Some((index, estimate(&facts, known)?))
    };
    let mut ranked: Vec<_> = (0..space.len()).step_by(step).filter_map(guess).collect();
    ranked.sort_by(|a, b| a.1.seconds.total_cmp(&b.1.seconds).then(a.0.cmp(&b.0)));
    ranked
}
