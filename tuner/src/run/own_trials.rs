//! Copies trials that the same device made in another cache, such as the cache of an earlier attempt at an element, or
//! a cache that was lost.

use std::collections::BTreeSet;

use kiln_cache::{Cache, CacheError, Trial, TuningKey};

/// Copies the trials with final outcomes into the cache, for configs that have no trial in it. All trials must be from
/// this device, because times of different devices are never compared.
///
/// # Errors
/// If the cache cannot be read or written.
pub fn take_up(cache: &Cache, key: &TuningKey, trials: Vec<Trial>) -> Result<(), CacheError> {
    let known = cache.trials(key.hash())?.into_iter();
    let known: BTreeSet<String> = known.map(|trial| trial.config).collect();
    let new = |trial: &Trial| trial.stands() && !known.contains(&trial.config);
    // The timestamps refer to runs of the other cache.
    let unplaced = |trial: Trial| Trial {
        place: None,
        ..trial
    };
    let trials: Vec<Trial> = trials.into_iter().filter(new).map(unplaced).collect();
    if trials.is_empty() {
        return Ok(());
    }
    cache.remember_key(key)?;
    cache.finish_all(trials)
}
